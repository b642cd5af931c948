#include "sluice/log/log_placement.h"

#include <utility>

namespace sluice {
namespace {

// What was seen before says nothing of now.
constexpr Duration kOldest = std::chrono::milliseconds(200);

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

bool LogPlacement::Sample() {
  const auto limits = Limits();
  if (!limits) {
    // What was lost is from a time that later limits have nothing to do with.
    std::lock_guard<std::mutex> lock(mutex_);
    threshold_ = RedirectThreshold();
    return false;
  }
  const auto fast = read_fast_();
  if (!fast) return true;
  std::lock_guard<std::mutex> lock(mutex_);
  sampled_at_ = clock_->Now();
  threshold_.Observe(static_cast<double>(*fast), *limits);
  return true;
}

Tier LogPlacement::Choose(size_t bytes) {
  if (const auto ordered = Find(Aspect::kTier)) {
    return ordered->setting.text == "slow" ? Tier::kSlow : Tier::kFast;
  }
  const auto limits = Limits();
  if (!limits) return Tier::kFast;
  const auto threshold = ThresholdBytes(*limits);
  if (!threshold || static_cast<double>(bytes) <= *threshold) {
    return Tier::kFast;
  }
  // Now, and not when the queues were last looked at: what was in this one then
  // is most often the write before, which is done. It need not be empty: logs
  // are made and removed there meanwhile.
  const auto slow = read_slow_();
  const bool is_worth =
      slow && static_cast<double>(*slow) <= limits->queue_requests;
  return is_worth ? Tier::kSlow : Tier::kFast;
}

bool LogPlacement::IsRedirecting() {
  if (const auto ordered = Find(Aspect::kTier)) {
    return ordered->setting.text == "slow";
  }
  const auto limits = Limits();
  if (!limits) return false;
  const auto threshold = ThresholdBytes(*limits);
  return threshold && *threshold < limits->size_bytes;
}

std::optional<double> LogPlacement::ThresholdBytes(
    const RedirectLimits& limits) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool is_seen = sampled_at_ && clock_->Now() - *sampled_at_ < kOldest;
  if (!is_seen) return std::nullopt;
  return threshold_.SizeBytes(limits);
}

bool LogPlacement::MayMerge() {
  const auto ordered = Find(Aspect::kTier);
  if (ordered && ordered->setting.text == "slow") return false;
  return read_fast_().value_or(0) == 0;
}

LogPlacement::Figures LogPlacement::Look() {
  const auto limits = Limits();
  Figures figures{read_fast_(), read_slow_(), std::nullopt};
  std::lock_guard<std::mutex> lock(mutex_);
  if (limits) figures.threshold_bytes = threshold_.SizeBytes(*limits);
  return figures;
}

}  // namespace sluice
