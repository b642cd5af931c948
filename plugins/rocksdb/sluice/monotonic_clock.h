// Copyright (c) the Sluice authors.
// Time for leases and paces: never the wall clock, which can jump.
#pragma once

#include <chrono>

namespace sluice {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

class MonotonicClock {
 public:
  virtual ~MonotonicClock() = default;
  virtual TimePoint Now() const { return std::chrono::steady_clock::now(); }

  static const MonotonicClock* Default() {
    // Never destroyed: threads are still there when the program exits.
    static const auto* const clock = new MonotonicClock();
    return clock;
  }
};

inline double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

inline Duration FromSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace sluice
