// The size above which a write of a log goes to the slow tier.
#pragma once

#include <algorithm>

namespace sluice {

// Algorithm 1 of "SSD Write Redirect" (SoCC 2019), but that the threshold comes
// back in steps, as it went: of a log, all writes wait for one that goes to a
// device whose queue was empty for a moment only.
struct RedirectLimits {
  // L: with more requests than this the fast tier is busy.
  double queue_requests = 0;
  // S_max: the threshold while the fast tier has nothing to do.
  double size_bytes = 0;
  // p: the part of S_max that is lost each time that it is seen busy, and
  // comes back each time that it has nothing to do.
  double step_ratio = 0;
};

// Limits may change at any time: what is kept is the part that was lost. Not
// safe for threads.
class RedirectThreshold {
 public:
  void Observe(double queue_requests, const RedirectLimits& limits) {
    if (queue_requests == 0) {
      lost_ratio_ = std::max(0.0, lost_ratio_ - limits.step_ratio);
    } else if (queue_requests > limits.queue_requests) {
      lost_ratio_ = std::min(1.0, lost_ratio_ + limits.step_ratio);
    }
  }

  double SizeBytes(const RedirectLimits& limits) const {
    return limits.size_bytes * (1 - lost_ratio_);
  }

 private:
  double lost_ratio_ = 0;
};

}  // namespace sluice
