// What a rate still allows.
#pragma once

#include <cstdint>

#include "sluice/monotonic_clock.h"

namespace sluice {

// It may be overdrawn: who takes then waits until time has made up for it, so
// that a change of the rate has its effect on waits that have begun.
class TokenBucket {
 public:
  // How much of a stall is made up for: short, so that what follows is no
  // burst that requests would feel, long enough for a scheduler's delays.
  static constexpr double kCatchUpSeconds = 0.05;

  TokenBucket(double bytes_per_second, TimePoint now)
      : bytes_per_second_(bytes_per_second), at_(now) {}

  // Brings it up to now, at the rate that held until now, and sets the rate
  // from now on.
  void Advance(double next_bytes_per_second, TimePoint now);
  void Take(uint64_t bytes) { balance_bytes_ -= static_cast<double>(bytes); }

  // Time until it is no longer overdrawn.
  Duration WaitTime() const;

 private:
  double balance_bytes_ = 0;
  double bytes_per_second_;
  TimePoint at_;
};

}  // namespace sluice
