// A flush or compaction from its begin to its end.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/lease/lease_store.h"
#include "sluice/monotonic_clock.h"

namespace sluice {

// Shared by all tasks of a database: once set, nothing waits any more.
using Freedom = std::atomic<bool>;

struct Task {
  // Set before the task is seen by another thread.
  std::string id;
  Kind kind = Kind::kCompaction;
  // The task's own scope as the snapshot shows it, DATABASE/FAMILY.
  std::string scope;
  // Scopes whose leases it obeys, the narrowest first.
  std::vector<std::string> scopes;
  // Lowest input level; -1 for a flush.
  int level = -1;
  std::string phase;
  // 0 if it is not known.
  uint64_t bytes_total = 0;
  TimePoint started_at;
  std::shared_ptr<const Freedom> freedom;
  // Recovery, shutdown and what else must never wait.
  bool is_exempt = false;

  std::atomic<uint64_t> bytes_read{0};
  std::atomic<uint64_t> bytes_written{0};
  // Of the progress, what has been paid for at a rate.
  std::atomic<uint64_t> bytes_charged{0};
  std::atomic<int64_t> throttled_nanoseconds{0};
  // Threads of the task that a hold has stopped.
  std::atomic<int> held_threads{0};
  std::atomic<int> waiting_threads{0};
  // Since the clock's epoch, when it last did or wanted to do I/O.
  std::atomic<Duration::rep> active_at{0};
  std::atomic<double> rate_bytes_per_second{0};

  // Work done. What is dropped counts: a compaction that writes little of
  // what it reads loads the device all the same.
  uint64_t Progress() const {
    return std::max(bytes_read.load(std::memory_order_relaxed),
                    bytes_written.load(std::memory_order_relaxed));
  }
  // What another node has done of it: it is shown, and no rate pays for it.
  void ShowRemoteProgress(uint64_t read, uint64_t written) {
    const uint64_t before = Progress();
    bytes_read = std::max(bytes_read.load(), read);
    bytes_written = std::max(bytes_written.load(), written);
    bytes_charged += Progress() - before;
  }
  bool IsFree() const {
    return is_exempt || (freedom && freedom->load(std::memory_order_acquire));
  }
};

// The task that this thread works for; nullptr in other threads.
const std::shared_ptr<Task>& CurrentTask();
void SetCurrentTask(std::shared_ptr<Task> task);

}  // namespace sluice
