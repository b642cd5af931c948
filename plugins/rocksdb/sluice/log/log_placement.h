// Which tier a write of a log goes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sluice/lease/lease_store.h"
#include "sluice/log/redirect_threshold.h"
#include "sluice/monotonic_clock.h"

namespace sluice {

enum class Tier { kFast, kSlow };

// What the program has opened the database with; orders take its place.
struct PlacementOptions {
  // Nothing is redirected by the queue without it, unless an order gives it.
  std::optional<double> queue_requests;
  double size_bytes = 0;
  double step_ratio = 0;
};

// Requests that a device has to do; nothing if that is not known.
using QueueReader = std::function<std::optional<uint64_t>()>;

// Decides for the logs of one database. Safe for threads.
class LogPlacement {
 public:
  LogPlacement(std::string database, const LeaseStore* leases,
               const PlacementOptions& options, QueueReader fast,
               QueueReader slow, const MonotonicClock* clock);

  // The tier of a write of so many bytes: by what was last seen of the fast
  // tier, and by what the slow one has to do now.
  Tier Choose(size_t bytes);

  // Whether writes are redirected that would not be if the fast tier had
  // nothing to do.
  bool IsRedirecting();

  // Looks at the fast tier's queue, if something is redirected by it; false if
  // nothing is. Not at writes: one that is synced comes when the device has
  // just done all that it had.
  bool Sample();

  // Whether what was redirected may be brought back now: the fast tier has
  // nothing to do, and no order keeps logs away from it.
  bool MayMerge();

  struct Figures {
    std::optional<uint64_t> fast_queue_requests;
    std::optional<uint64_t> slow_queue_requests;
    // Nothing while nothing is redirected by the queue.
    std::optional<double> threshold_bytes;
  };
  Figures Look();

 private:
  std::optional<Lease> Find(Aspect aspect) const;
  std::optional<RedirectLimits> Limits() const;
  // Nothing where the fast tier was not looked at lately.
  std::optional<double> ThresholdBytes(const RedirectLimits& limits);

  const std::vector<std::string> scopes_;
  const LeaseStore* const leases_;
  const PlacementOptions options_;
  const QueueReader read_fast_;
  const QueueReader read_slow_;
  const MonotonicClock* const clock_;

  std::mutex mutex_;
  RedirectThreshold threshold_;
  std::optional<TimePoint> sampled_at_;
};

}  // namespace sluice
