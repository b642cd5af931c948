#include "sluice/store/family_state.h"

#include <algorithm>

namespace sluice {
namespace {

double Share(double value, double from, double to) {
  if (value <= from) return 0;
  return to > from ? (value - from) / (to - from) : 1;
}

double FilesCloseness(const FamilyState& family, int limit) {
  if (family.level0_files + 1 >= limit) return 1;
  return Share(family.level0_files, family.level0_compaction_trigger, limit);
}

}  // namespace

uint64_t CompactionDebtBytes(const FamilyState& family) {
  if (family.is_fifo) return 0;
  return std::max(family.pending_compaction_bytes, family.level0_bytes);
}

uint64_t FlushDebtBytes(const FamilyState& family) {
  return family.active_memtable_bytes + family.unflushed_bytes;
}

double CompactionStallCloseness(const FamilyState& family) {
  // RocksDB stalls no writes for files if it does not compact by itself.
  if (!family.has_automatic_compactions) return 0;
  double closeness = FilesCloseness(family, family.level0_stop_trigger);
  // It can be switched off.
  if (family.level0_slowdown_trigger >= 0) {
    closeness = std::max(
        closeness, FilesCloseness(family, family.level0_slowdown_trigger));
  }
  for (const uint64_t limit :
       {family.soft_pending_bytes_limit, family.hard_pending_bytes_limit}) {
    if (limit == 0) continue;
    closeness = std::max(
        closeness, Share(static_cast<double>(family.pending_compaction_bytes),
                         0, static_cast<double>(limit)));
  }
  return closeness;
}

// Writes stop when the last memtable that may be there is full, and slow down
// one earlier if there may be more than three.
double FlushStallCloseness(const FamilyState& family) {
  const int slow_at = family.max_memtables > 3 ? family.max_memtables - 1
                                               : family.max_memtables;
  const double active =
      family.memtable_size_bytes > 0
          ? std::min(1.0, static_cast<double>(family.active_memtable_bytes) /
                              static_cast<double>(family.memtable_size_bytes))
          : 0;
  // With the memtable that is filled next this is reached.
  return Share(family.unflushed_memtables + active, 1, slow_at);
}

}  // namespace sluice
