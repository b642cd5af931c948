// Latency of the requests of all databases of the process, by intervals.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "sluice/latency/histogram.h"
#include "sluice/monotonic_clock.h"

namespace sluice {

class OperationLatencies {
 public:
  static constexpr double kIntervalSeconds = 1;
  // As many intervals are kept.
  static constexpr size_t kIntervals = 10;

  explicit OperationLatencies(const MonotonicClock* clock)
      : clock_(clock), interval_start_(clock->Now()) {}

  void RecordRead(uint64_t microseconds) { reads_.Record(microseconds); }
  void RecordWrite(uint64_t microseconds) { writes_.Record(microseconds); }

  // Ends the interval if it has lasted long enough.
  void Tick();

  struct Interval {
    double age_seconds;
    double seconds;
    LatencySummary reads;
    LatencySummary writes;
  };
  // The intervals that have ended, the last one last.
  std::vector<Interval> Intervals() const;

 private:
  struct Ended {
    TimePoint at;
    double seconds;
    LatencySummary reads;
    LatencySummary writes;
  };

  const MonotonicClock* const clock_;
  Histogram reads_;
  Histogram writes_;
  mutable std::mutex mutex_;
  TimePoint interval_start_;
  std::deque<Ended> ended_;
};

}  // namespace sluice
