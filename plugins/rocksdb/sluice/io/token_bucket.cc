#include "sluice/io/token_bucket.h"

#include <algorithm>

namespace sluice {
namespace {

// Waits are looked at anew long before; keeps the sum within the clock.
constexpr double kLongestWaitSeconds = 3600;

}  // namespace

void TokenBucket::Advance(double next_bytes_per_second, TimePoint now) {
  const double earned = bytes_per_second_ * Seconds(now - at_);
  bytes_per_second_ = next_bytes_per_second;
  balance_bytes_ = std::min(balance_bytes_ + earned,
                            next_bytes_per_second * kCatchUpSeconds);
  at_ = now;
}

Duration TokenBucket::WaitTime() const {
  if (balance_bytes_ >= 0) return Duration::zero();
  return FromSeconds(
      std::min(-balance_bytes_ / bytes_per_second_, kLongestWaitSeconds));
}

}  // namespace sluice
