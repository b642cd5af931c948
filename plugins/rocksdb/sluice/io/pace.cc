#include "sluice/io/pace.h"

#include <algorithm>

namespace sluice {
namespace {

// How late what ends a wait without a change of leases can be seen.
constexpr Duration kPoll = std::chrono::milliseconds(50);

}  // namespace

void Pace::Begin(std::shared_ptr<Task> task) {
  task->started_at = clock_->Now();
  task->active_at = task->started_at.time_since_epoch().count();
  std::lock_guard<std::mutex> lock(mutex_);
  running_.push_back(std::move(task));
}

void Pace::End(const std::shared_ptr<Task>& task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase(running_, task);
  }
  changed_.notify_all();
}

void Pace::Wake() {
  // Under the lock, so that nobody is between its look and its wait.
  { std::lock_guard<std::mutex> lock(mutex_); }
  changed_.notify_all();
}

std::vector<std::shared_ptr<Task>> Pace::Running() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return running_;
}

void Pace::BeforeWrite(Task* task, size_t bytes) {
  task->bytes_written.fetch_add(bytes, std::memory_order_relaxed);
  task->active_at.store(clock_->Now().time_since_epoch().count(),
                        std::memory_order_relaxed);
  if (leases_->IsEmpty() || task->IsFree()) {
    task->bytes_charged = task->Progress();
    return;
  }
  WaitAsLongAsNeeded(task);
  task->active_at = clock_->Now().time_since_epoch().count();
}

void Pace::WaitAsLongAsNeeded(Task* task) {
  std::unique_lock<std::mutex> lock(mutex_);
  const TimePoint start = clock_->Now();
  control_.Charge(task, start);
  bool has_waited = false;
  ++task->waiting_threads;
  while (!task->IsFree()) {
    const Wait wait = control_.WaitFor(*task, running_, clock_->Now());
    if (wait.IsOver()) break;
    has_waited = true;
    task->held_threads += wait.is_held;
    changed_.wait_for(lock, std::min(wait.time, kPoll));
    task->held_threads -= wait.is_held;
  }
  --task->waiting_threads;
  if (!has_waited) return;
  task->throttled_nanoseconds +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock_->Now() -
                                                           start)
          .count();
}

}  // namespace sluice
