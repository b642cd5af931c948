// What bounds a task now. Decides, and does not wait.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/io/task.h"
#include "sluice/io/token_bucket.h"
#include "sluice/lease/lease_store.h"

namespace sluice {

struct Wait {
  Duration time = Duration::zero();
  bool is_held = false;

  bool IsOver() const { return time <= Duration::zero(); }
  static Wait None() { return {}; }
  static Wait UntilChange(bool is_held) { return {Duration::max(), is_held}; }
};

// A task obeys the lease on the narrowest scope that has one. Where a rate or
// a priority binds it, it also lets those go first that have a higher rank:
// flushes before compactions of L0 before deeper ones, unless a priority says
// otherwise. With the setting full it waits for nobody. Not safe for threads
// by itself.
class PaceControl {
 public:
  // A task that has not asked to write for so long holds up nobody.
  static constexpr double kActiveSeconds = 0.1;

  explicit PaceControl(const LeaseStore* leases) : leases_(leases) {}

  // Pays for the progress since the last time.
  void Charge(Task* task, TimePoint now);

  // How long the task has to wait now. It has to ask again after that time,
  // and after every change.
  Wait WaitFor(const Task& task,
               const std::vector<std::shared_ptr<Task>>& running,
               TimePoint now);

 private:
  using Place = std::pair<Kind, std::string>;

  TokenBucket* BucketOf(const Lease& lease, TimePoint now);
  void ForgetUnusedBuckets();
  double RankOf(const Task& task) const;
  bool MustYield(const Task& task,
                 const std::vector<std::shared_ptr<Task>>& running,
                 TimePoint now);
  bool IsSlowedByItsOwnRate(const Task& other, const Task& task, TimePoint now);

  const LeaseStore* const leases_;
  std::map<Place, TokenBucket> buckets_;
};

}  // namespace sluice
