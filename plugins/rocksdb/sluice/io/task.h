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

// Shared by all tasks of a database, and known by its address: while either is
// set, none of them waits.
struct Freedom {
  std::atomic<bool> is_closing{false};
  // After an error the store waits for all background work before it recovers,
  // and for its recovery before it closes.
  std::atomic<bool> is_in_error{false};

  bool IsSet() const { return is_closing || is_in_error; }
};

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
  // Numbered anew in each database. A job that flushes several families at
  // once has a task for each.
  int job = 0;
  uint32_t family = 0;
  std::string phase;
  TimePoint started_at;
  std::shared_ptr<const Freedom> freedom;
  // Recovery, shutdown and what else must not wait, from now on.
  std::atomic<bool> is_exempt{false};

  // 0 if it is not known.
  std::atomic<uint64_t> bytes_total{0};
  std::atomic<uint64_t> bytes_read{0};
  std::atomic<uint64_t> bytes_written{0};
  // What other nodes have done of it: shown, and paid for by no rate.
  std::atomic<uint64_t> bytes_remote{0};
  // Of the local progress, what has been paid for at a rate.
  std::atomic<uint64_t> bytes_charged{0};
  std::atomic<int64_t> throttled_nanoseconds{0};
  // Of a flush, how long it has waited in all while another one waited for its
  // turn; under the lock of the pace.
  Duration waited_before_others = Duration::zero();
  // Threads of the task that a hold has stopped.
  std::atomic<int> held_threads{0};
  std::atomic<int> waiting_threads{0};
  // Since the clock's epoch, when it last did or wanted to do I/O.
  std::atomic<Duration::rep> active_at{0};
  std::atomic<double> rate_bytes_per_second{0};
  // The progress when its rate was last measured; of the measuring thread.
  uint64_t bytes_measured = 0;

  // Work done here. What is dropped counts: a compaction that writes little of
  // what it reads loads the device all the same.
  uint64_t LocalProgress() const {
    return std::max(bytes_read.load(std::memory_order_relaxed),
                    bytes_written.load(std::memory_order_relaxed));
  }
  uint64_t Progress() const { return LocalProgress() + bytes_remote; }
  bool IsFree() const { return is_exempt || (freedom && freedom->IsSet()); }
};

// The task that this thread works for; nullptr in other threads.
const std::shared_ptr<Task>& CurrentTask();
void SetCurrentTask(std::shared_ptr<Task> task);

}  // namespace sluice
