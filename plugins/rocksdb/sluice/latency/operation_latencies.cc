#include "sluice/latency/operation_latencies.h"

namespace sluice {

void OperationLatencies::Tick() {
  std::lock_guard<std::mutex> lock(mutex_);
  const TimePoint now = clock_->Now();
  const double seconds = Seconds(now - interval_start_);
  if (seconds < kIntervalSeconds) return;
  ended_.push_back(
      {now, seconds, reads_.TakeInterval(), writes_.TakeInterval()});
  if (ended_.size() > kIntervals) ended_.pop_front();
  interval_start_ = now;
}

std::vector<OperationLatencies::Interval> OperationLatencies::Intervals()
    const {
  std::lock_guard<std::mutex> lock(mutex_);
  const TimePoint now = clock_->Now();
  std::vector<Interval> intervals;
  for (const Ended& each : ended_) {
    intervals.push_back(
        {Seconds(now - each.at), each.seconds, each.reads, each.writes});
  }
  return intervals;
}

}  // namespace sluice
