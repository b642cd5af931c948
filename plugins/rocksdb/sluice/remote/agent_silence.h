// Spares compactions the wait for an agent that does not answer.
#pragma once

#include <atomic>

#include "sluice/monotonic_clock.h"

namespace sluice {

// Safe for threads.
class AgentSilence {
 public:
  // Each job would else keep its thread until the answer is overdue.
  static constexpr double kSeconds = 30;

  explicit AgentSilence(const MonotonicClock* clock) : clock_(clock) {}

  // The agent has not answered in time.
  void Begin() {
    until_ = (clock_->Now() + FromSeconds(kSeconds)).time_since_epoch().count();
  }
  bool IsOver() const {
    return clock_->Now().time_since_epoch().count() >= until_;
  }

 private:
  const MonotonicClock* const clock_;
  // Since the clock's epoch.
  std::atomic<Duration::rep> until_{0};
};

}  // namespace sluice
