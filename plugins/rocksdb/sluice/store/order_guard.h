// Ends orders of flushes and compactions where a store comes near to a limit of
// its own.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "sluice/lease/lease_store.h"
#include "sluice/store/figures.h"
#include "sluice/store/store_state.h"

namespace sluice {

// Safe for threads.
class OrderGuard {
 public:
  // From here to a limit every order of flushes or compactions ends, and none
  // is taken until all stores are as far from it again.
  static constexpr double kEndCloseness = 0.75;
  static constexpr double kTakeCloseness = 0.5;

  OrderGuard(LeaseStore* leases, Figures* figures)
      : leases_(leases), figures_(figures) {}

  using States = std::vector<std::shared_ptr<const StoreState>>;
  void Look(const States& stores);
  // At once, those of both: a store says that it holds up writes.
  void EndAll();

  // Where logs go puts off no flush or compaction: it may be ordered at any
  // time, and stays.
  bool Forbids(Kind kind) const {
    return kind != Kind::kLogPlacement && IsAtLimit(kind);
  }

 private:
  std::atomic<bool>& IsAtLimit(Kind kind) {
    return kind == Kind::kCompaction ? compaction_limit_ : flush_limit_;
  }
  bool IsAtLimit(Kind kind) const {
    return kind == Kind::kCompaction ? compaction_limit_ : flush_limit_;
  }
  void Judge(Kind kind, double closeness);
  void End(Kind kind);

  LeaseStore* const leases_;
  Figures* const figures_;
  std::atomic<bool> compaction_limit_{false};
  std::atomic<bool> flush_limit_{false};
};

}  // namespace sluice
