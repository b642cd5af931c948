#include "sluice/io/pace_control.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr double kFlushRank = 2;
constexpr double kLevel0Rank = 1;
constexpr double kDeeperRank = 0;
// How soon a task that yields looks again whether others still work.
constexpr double kYieldSeconds = 0.01;

double DefaultRank(const Task& task) {
  if (task.kind == Kind::kFlush) return kFlushRank;
  return task.level == 0 ? kLevel0Rank : kDeeperRank;
}

bool IsActive(const Task& task, TimePoint now) {
  if (task.held_threads > 0) return false;
  const TimePoint active_at{Duration(task.active_at.load())};
  return task.waiting_threads > 0 ||
         Seconds(now - active_at) <= PaceControl::kActiveSeconds;
}

bool IsRate(const std::optional<Lease>& pace) {
  return pace && pace->setting.name == SettingName::kRate;
}

}  // namespace

void PaceControl::Charge(Task* task, TimePoint now) {
  const uint64_t progress = task->LocalProgress();
  const uint64_t charged = task->bytes_charged.exchange(progress);
  const auto pace = leases_->Find(task->kind, Aspect::kPace, task->scopes);
  if (IsRate(pace) && progress > charged) {
    BucketOf(*pace, now)->Take(progress - charged);
  }
  ForgetUnusedBuckets();
}

Wait PaceControl::WaitFor(const Task& task,
                          const std::vector<std::shared_ptr<Task>>& running,
                          TimePoint now) {
  const auto pace = leases_->Find(task.kind, Aspect::kPace, task.scopes);
  if (pace && pace->setting.name == SettingName::kHold) {
    return Wait::UntilChange(/*is_held=*/true);
  }
  // It would starve behind all that have a higher priority.
  if (pace && pace->setting.name == SettingName::kFull) return Wait::None();
  const bool has_rate = IsRate(pace);
  const bool is_ranked =
      has_rate ||
      leases_->Find(task.kind, Aspect::kPriority, task.scopes).has_value();
  if (is_ranked && MustYield(task, running, now)) {
    return {FromSeconds(kYieldSeconds), false};
  }
  return has_rate ? Wait{BucketOf(*pace, now)->WaitTime(), false}
                  : Wait::None();
}

// All tasks that obey a lease share its rate.
TokenBucket* PaceControl::BucketOf(const Lease& lease, TimePoint now) {
  const double rate = lease.setting.number;
  const auto bucket =
      buckets_.try_emplace({lease.kind, lease.scope}, rate, now).first;
  bucket->second.Advance(rate, now);
  return &bucket->second;
}

// The debt of a lease that has ended is not that of the next one.
void PaceControl::ForgetUnusedBuckets() {
  for (auto each = buckets_.begin(); each != buckets_.end();) {
    const auto& [kind, scope] = each->first;
    const auto pace = leases_->Find(kind, Aspect::kPace, {scope});
    each = IsRate(pace) ? std::next(each) : buckets_.erase(each);
  }
}

double PaceControl::RankOf(const Task& task) const {
  const auto priority =
      leases_->Find(task.kind, Aspect::kPriority, task.scopes);
  return priority ? priority->setting.number : DefaultRank(task);
}

bool PaceControl::MustYield(const Task& task,
                            const std::vector<std::shared_ptr<Task>>& running,
                            TimePoint now) {
  const double rank = RankOf(task);
  return std::any_of(running.begin(), running.end(), [&](const auto& other) {
    return other.get() != &task && IsActive(*other, now) &&
           RankOf(*other) > rank && !IsSlowedByItsOwnRate(*other, task, now);
  });
}

// Whether the other one waits for a rate that is not also the task's: then the
// device is idle as far as it goes, and a low rate would stop all below it.
bool PaceControl::IsSlowedByItsOwnRate(const Task& other, const Task& task,
                                       TimePoint now) {
  const auto its = leases_->Find(other.kind, Aspect::kPace, other.scopes);
  if (other.IsFree() || !IsRate(its)) return false;
  const auto own = leases_->Find(task.kind, Aspect::kPace, task.scopes);
  const bool is_shared =
      own && own->kind == its->kind && own->scope == its->scope;
  return !is_shared && BucketOf(*its, now)->WaitTime() > Duration::zero();
}

}  // namespace sluice
