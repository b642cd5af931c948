#include "sluice/store/store_state.h"

#include <algorithm>

namespace sluice {
namespace {

// What a store without orders keeps now and then as well.
constexpr double kMinObsoleteBytes = 1ull << 30;
constexpr double kMaxObsoleteShare = 0.25;

}  // namespace

const FamilyState* StoreState::Find(uint32_t family) const {
  const auto found = std::lower_bound(
      families.begin(), families.end(), family,
      [](const FamilyState& each, uint32_t id) { return each.id < id; });
  return found != families.end() && found->id == family ? &*found : nullptr;
}

const FamilyState* StoreState::Find(const std::string& name) const {
  const auto found =
      std::find_if(families.begin(), families.end(),
                   [&](const FamilyState& each) { return each.name == name; });
  return found != families.end() ? &*found : nullptr;
}

double ObsoleteFilesCloseness(const StoreState& store) {
  const double limit =
      std::max(kMinObsoleteBytes,
               kMaxObsoleteShare * static_cast<double>(store.live_bytes));
  return static_cast<double>(store.obsolete_bytes) / limit;
}

double ExcessCloseness(uint64_t bytes, uint64_t bound) {
  if (bound == 0 || bytes <= bound) return 0;
  return static_cast<double>(bytes - bound) / static_cast<double>(bound);
}

}  // namespace sluice
