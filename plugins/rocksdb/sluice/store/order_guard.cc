#include "sluice/store/order_guard.h"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

// Stores that have the same write buffer manager share its bound.
double WriteBuffersCloseness(const OrderGuard::States& stores) {
  std::map<const void*, uint64_t> bytes;
  double closeness = 0;
  for (const auto& store : stores) {
    const uint64_t sum = bytes[store->write_buffers] += store->flush_debt_bytes;
    closeness = std::max(closeness,
                         ExcessCloseness(sum, store->max_write_buffer_bytes));
  }
  return closeness;
}

}  // namespace

void OrderGuard::Look(const States& stores) {
  double compaction = 0;
  double flush = WriteBuffersCloseness(stores);
  for (const auto& store : stores) {
    const double both = store->is_stalled ? 1 : ObsoleteFilesCloseness(*store);
    compaction = std::max(compaction, both);
    flush = std::max(
        {flush, both, ExcessCloseness(store->log_bytes, store->max_log_bytes)});
    for (const FamilyState& family : store->families) {
      compaction = std::max(compaction, CompactionStallCloseness(family));
      flush = std::max(flush, FlushStallCloseness(family));
    }
  }
  Judge(Kind::kCompaction, compaction);
  Judge(Kind::kFlush, flush);
}

void OrderGuard::EndAll() {
  End(Kind::kCompaction);
  End(Kind::kFlush);
}

// An order that was checked just before the limit may have come after it: as
// long as none is taken, all end.
void OrderGuard::Judge(Kind kind, double closeness) {
  if (closeness <= kTakeCloseness) {
    IsAtLimit(kind) = false;
  } else if (closeness >= kEndCloseness || IsAtLimit(kind)) {
    End(kind);
  }
}

void OrderGuard::End(Kind kind) {
  IsAtLimit(kind) = true;
  if (leases_->EndAll(kind) == 0) return;
  figures_->Add(kind == Kind::kCompaction ? "compaction_order_ends_total"
                                          : "flush_order_ends_total",
                1);
}

}  // namespace sluice
