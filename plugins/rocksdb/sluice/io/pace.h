// Makes the threads of flushes and compactions wait as long as they have to.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sluice/io/pace_control.h"
#include "sluice/io/task.h"

namespace sluice {

class Pace {
 public:
  // A flush that has waited for so long, in all, while another one waits for
  // its turn goes on to its end: that may be one that somebody needs, such as
  // the ingestion of a file, which stops writes. The store runs few at once and
  // takes over their results in order.
  static constexpr double kLongestWaitBeforeOthersSeconds = 5;

  // The store calls Wake after every change of the leases.
  Pace(const LeaseStore* leases, const MonotonicClock* clock)
      : leases_(leases), clock_(clock), control_(leases) {}

  void Begin(std::shared_ptr<Task> task);
  void End(const std::shared_ptr<Task>& task);
  // Ends all tasks of a job, or of a database, which then has closed.
  void EndJob(const Task& of);
  void EndAll(const Freedom* database);

  // Called by a thread of the task before it writes; waits.
  void BeforeWrite(Task* task, size_t bytes) noexcept;

  // Has all who wait look again at what bounds them.
  void Wake();
  // The task waits no more; all flushes of a database that run now, and the
  // next one of each of these families.
  void LetGo(Task* task);
  void LetFlushesGo(const Freedom* database,
                    const std::vector<uint32_t>& families = {});
  // Until all of a database ends, no flush of the process waits: its own may
  // need the thread of another one.
  void SetClosing(const Freedom* database);
  // For the end of the process: from now on nobody waits, whatever is ordered.
  // Takes no lock.
  void EndWaits() { is_ending_ = true; }
  // Whether a flush waits for its turn in any database.
  void SetFlushQueued(bool is_queued);

  std::vector<std::shared_ptr<Task>> Running() const;
  // The task of a compaction; nullptr if there is none.
  std::shared_ptr<Task> FindCompaction(const Freedom* database, int job) const;
  // Those of a database that closes are over soon.
  size_t CountCompactions(const std::string& scope) const;

 private:
  void WaitAsLongAsNeeded(Task* task);
  // Of any database if it is nullptr.
  void LetFlushesGoLocked(const Freedom* database);
  // Counts what the task has waited since then, and says until when.
  TimePoint CountWait(Task* task, TimePoint since) const;
  bool MayWait(const Task& task) const;
  bool IsFree(const Task& task) const { return is_ending_ || task.IsFree(); }

  const LeaseStore* const leases_;
  const MonotonicClock* const clock_;
  std::atomic<bool> is_ending_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PaceControl control_;
  std::vector<std::shared_ptr<Task>> running_;
  std::set<const Freedom*> closing_;
  // Families whose next flush is let go.
  std::set<std::pair<const Freedom*, uint32_t>> needed_;
  std::optional<TimePoint> flush_queued_since_;
};

}  // namespace sluice
