#include "sluice/io/pace.h"

#include <algorithm>

#include "sluice/guarded.h"

namespace sluice {
namespace {

// How late what ends a wait without a change of leases can be seen.
constexpr Duration kPoll = std::chrono::milliseconds(50);

// Counted as long as it lives, also where a wait ends with an exception.
class Counted {
 public:
  Counted(std::atomic<int>* count, bool is_counted)
      : count_(count), by_(is_counted ? 1 : 0) {
    *count_ += by_;
  }
  ~Counted() { *count_ -= by_; }

 private:
  std::atomic<int>* const count_;
  const int by_;
};

bool IsOfJob(const Task& task, const Task& of) {
  return task.freedom == of.freedom && task.kind == of.kind &&
         task.job == of.job;
}

}  // namespace

void Pace::Begin(std::shared_ptr<Task> task) {
  task->started_at = clock_->Now();
  task->active_at = task->started_at.time_since_epoch().count();
  std::lock_guard<std::mutex> lock(mutex_);
  const bool is_needed = task->kind == Kind::kFlush &&
                         needed_.erase({task->freedom.get(), task->family}) > 0;
  if (is_needed) task->is_exempt = true;
  running_.push_back(std::move(task));
}

void Pace::End(const std::shared_ptr<Task>& task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase(running_, task);
  }
  changed_.notify_all();
}

void Pace::EndJob(const Task& of) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(running_,
                  [&](const auto& each) { return IsOfJob(*each, of); });
  }
  changed_.notify_all();
}

void Pace::EndAll(const Freedom* database) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(running_, [&](const auto& each) {
      return each->freedom.get() == database;
    });
    closing_.erase(database);
    std::erase_if(needed_,
                  [&](const auto& each) { return each.first == database; });
  }
  changed_.notify_all();
}

void Pace::Wake() {
  // Under the lock, so that nobody is between its look and its wait.
  { std::lock_guard<std::mutex> lock(mutex_); }
  changed_.notify_all();
}

void Pace::LetGo(Task* task) {
  task->is_exempt = true;
  Wake();
}

void Pace::LetFlushesGo(const Freedom* database,
                        const std::vector<uint32_t>& families) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    LetFlushesGoLocked(database);
    for (const uint32_t family : families) needed_.emplace(database, family);
  }
  changed_.notify_all();
}

void Pace::LetFlushesGoLocked(const Freedom* database) {
  for (const auto& each : running_) {
    const bool is_of = database == nullptr || each->freedom.get() == database;
    if (each->kind == Kind::kFlush && is_of) each->is_exempt = true;
  }
}

void Pace::SetClosing(const Freedom* database) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_.insert(database);
    // They may look only once it has closed as far as is told here, when it
    // still waits for what comes after them on their threads.
    LetFlushesGoLocked(nullptr);
  }
  changed_.notify_all();
}

void Pace::SetFlushQueued(bool is_queued) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!is_queued) {
    flush_queued_since_.reset();
  } else if (!flush_queued_since_) {
    flush_queued_since_ = clock_->Now();
  }
}

std::vector<std::shared_ptr<Task>> Pace::Running() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return running_;
}

std::shared_ptr<Task> Pace::FindCompaction(const Freedom* database,
                                           int job) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(running_.begin(), running_.end(), [&](const auto& each) {
        return each->kind == Kind::kCompaction &&
               each->freedom.get() == database && each->job == job;
      });
  return found == running_.end() ? nullptr : *found;
}

size_t Pace::CountCompactions(const std::string& scope) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<size_t>(
      std::count_if(running_.begin(), running_.end(), [&](const auto& each) {
        const auto& scopes = each->scopes;
        const bool is_closing = each->freedom && each->freedom->is_closing;
        return each->kind == Kind::kCompaction && !is_closing &&
               std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
      }));
}

void Pace::BeforeWrite(Task* task, size_t bytes) noexcept {
  task->bytes_written.fetch_add(bytes, std::memory_order_relaxed);
  task->active_at.store(clock_->Now().time_since_epoch().count(),
                        std::memory_order_relaxed);
  if (leases_->IsEmpty() || IsFree(*task)) {
    task->bytes_charged = task->LocalProgress();
    return;
  }
  Guarded([&] { WaitAsLongAsNeeded(task); });
  task->active_at = clock_->Now().time_since_epoch().count();
}

void Pace::WaitAsLongAsNeeded(Task* task) {
  std::unique_lock<std::mutex> lock(mutex_);
  const TimePoint start = clock_->Now();
  control_.Charge(task, start);
  bool has_waited = false;
  {
    const Counted waiting(&task->waiting_threads, true);
    TimePoint counted_until = start;
    while (!IsFree(*task)) {
      counted_until = CountWait(task, counted_until);
      const Wait wait = control_.WaitFor(*task, running_, counted_until);
      if (wait.IsOver()) break;
      if (!MayWait(*task)) {
        task->is_exempt = true;
        break;
      }
      has_waited = true;
      const Counted held(&task->held_threads, wait.is_held);
      changed_.wait_for(lock, std::min(wait.time, kPoll));
    }
  }
  if (!has_waited) return;
  task->throttled_nanoseconds +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock_->Now() -
                                                           start)
          .count();
}

// The waits of a rate are short, each before another write: one alone would
// never be too long.
TimePoint Pace::CountWait(Task* task, TimePoint since) const {
  const TimePoint now = clock_->Now();
  if (flush_queued_since_) {
    task->waited_before_others += now - std::max(since, *flush_queued_since_);
  }
  return now;
}

bool Pace::MayWait(const Task& task) const {
  if (task.kind != Kind::kFlush) return true;
  if (!closing_.empty()) return false;
  return !flush_queued_since_ ||
         Seconds(task.waited_before_others) < kLongestWaitBeforeOthersSeconds;
}

}  // namespace sluice
