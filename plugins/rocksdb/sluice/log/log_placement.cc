#include "sluice/log/log_placement.h"

#include <utility>

namespace sluice {
namespace {

// Writes that come faster share what the kernel has said: it takes some 20 us
// to ask.
constexpr Duration kQueueAge = std::chrono::milliseconds(1);

}  // namespace

LogPlacement::LogPlacement(std::string database, const LeaseStore* leases,
                           const PlacementOptions& options, QueueReader fast,
                           QueueReader slow, const MonotonicClock* clock)
    : scopes_({std::move(database), ""}),
      leases_(leases),
      options_(options),
      read_fast_(std::move(fast)),
      read_slow_(std::move(slow)),
      clock_(clock) {}

std::optional<Lease> LogPlacement::Find(Aspect aspect) const {
  if (!leases_->MayHave(Kind::kLogPlacement, aspect)) return std::nullopt;
  return leases_->Find(Kind::kLogPlacement, aspect, scopes_);
}

std::optional<RedirectLimits> LogPlacement::Limits() const {
  const auto number = [this](Aspect aspect, double otherwise) {
    const auto lease = Find(aspect);
    return lease ? lease->setting.number : otherwise;
  };
  const auto queue = Find(Aspect::kRedirectQueue);
  if (!queue && !options_.queue_requests) return std::nullopt;
  return RedirectLimits{
      queue ? queue->setting.number : *options_.queue_requests,
      number(Aspect::kRedirectSize, options_.size_bytes),
      number(Aspect::kRedirectStep, options_.step_ratio)};
}

// The threshold changes by readings, not by writes: it would be gone at once
// where writes are many and small.
void LogPlacement::ReadQueues(const std::optional<RedirectLimits>& limits) {
  const TimePoint now = clock_->Now();
  if (read_at_ && now - *read_at_ < kQueueAge) return;
  read_at_ = now;
  fast_queue_ = read_fast_();
  slow_queue_ = read_slow_();
  if (limits && fast_queue_) {
    threshold_.Observe(static_cast<double>(*fast_queue_), *limits);
  }
}

Tier LogPlacement::Choose(size_t bytes) {
  if (const auto ordered = Find(Aspect::kTier)) {
    return ordered->setting.text == "slow" ? Tier::kSlow : Tier::kFast;
  }
  const auto limits = Limits();
  if (!limits) return Tier::kFast;
  std::lock_guard<std::mutex> lock(mutex_);
  ReadQueues(limits);
  const bool is_slow_idle = slow_queue_ && *slow_queue_ == 0;
  const bool is_large =
      static_cast<double>(bytes) > threshold_.SizeBytes(*limits);
  return is_slow_idle && is_large ? Tier::kSlow : Tier::kFast;
}

bool LogPlacement::MayMerge() {
  const auto ordered = Find(Aspect::kTier);
  if (ordered && ordered->setting.text == "slow") return false;
  std::lock_guard<std::mutex> lock(mutex_);
  ReadQueues(Limits());
  return !fast_queue_ || *fast_queue_ == 0;
}

LogPlacement::Figures LogPlacement::Look() {
  const auto limits = Limits();
  std::lock_guard<std::mutex> lock(mutex_);
  ReadQueues(limits);
  Figures figures{fast_queue_, slow_queue_, std::nullopt};
  if (limits) figures.threshold_bytes = threshold_.SizeBytes(*limits);
  return figures;
}

}  // namespace sluice
