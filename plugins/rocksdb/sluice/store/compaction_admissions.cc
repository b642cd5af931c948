#include "sluice/store/compaction_admissions.h"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

bool Contains(const std::vector<std::string>& scopes,
              const std::string& scope) {
  return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
}

}  // namespace

bool CompactionAdmissions::Admit(const std::vector<std::string>& scopes,
                                 TimePoint now) {
  if (!leases_->MayHave(Kind::kCompaction, Aspect::kConcurrency)) return true;
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(admitted_, [&](const Admitted& each) {
    return Seconds(now - each.at) > kWaitSeconds;
  });
  bool is_bounded = false;
  for (const std::string& scope : scopes) {
    const auto lease =
        leases_->Find(Kind::kCompaction, Aspect::kConcurrency, {scope});
    if (!lease) continue;
    if (static_cast<double>(CountIn(scope)) >= lease->setting.number) {
      return false;
    }
    is_bounded = true;
  }
  if (is_bounded) admitted_.push_back({scopes, now});
  return true;
}

// Of a compaction that begins the level is known, of one that may begin not.
void CompactionAdmissions::Begin(std::shared_ptr<Task> task) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(
      admitted_.begin(), admitted_.end(), [&](const Admitted& each) {
        return Contains(task->scopes, each.scopes.front());
      });
  if (found != admitted_.end()) admitted_.erase(found);
  pace_->Begin(std::move(task));
}

size_t CompactionAdmissions::CountIn(const std::string& scope) const {
  size_t count = pace_->CountCompactions(scope);
  for (const Admitted& each : admitted_) count += Contains(each.scopes, scope);
  return count;
}

}  // namespace sluice
