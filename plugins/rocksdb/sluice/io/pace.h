// Makes the threads of flushes and compactions wait as long as they have to.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "sluice/io/pace_control.h"
#include "sluice/io/task.h"

namespace sluice {

class Pace {
 public:
  // The store calls Wake after every change of the leases.
  Pace(const LeaseStore* leases, const MonotonicClock* clock)
      : leases_(leases), clock_(clock), control_(leases) {}

  void Begin(std::shared_ptr<Task> task);
  void End(const std::shared_ptr<Task>& task);

  // Called by a thread of the task before it writes; waits.
  void BeforeWrite(Task* task, size_t bytes);

  // Has all who wait look again at what bounds them.
  void Wake();

  std::vector<std::shared_ptr<Task>> Running() const;

 private:
  void WaitAsLongAsNeeded(Task* task);

  const LeaseStore* const leases_;
  const MonotonicClock* const clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PaceControl control_;
  std::vector<std::shared_ptr<Task>> running_;
};

}  // namespace sluice
