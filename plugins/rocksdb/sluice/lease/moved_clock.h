// A clock that a test moves.
#pragma once

#include <atomic>

#include "sluice/monotonic_clock.h"

namespace sluice {

class MovedClock : public MonotonicClock {
 public:
  TimePoint Now() const override { return TimePoint(Duration(ticks_.load())); }
  void Move(double seconds) { ticks_ += FromSeconds(seconds).count(); }

 private:
  std::atomic<Duration::rep> ticks_{FromSeconds(1000).count()};
};

}  // namespace sluice
