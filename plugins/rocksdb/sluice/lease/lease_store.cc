#include "sluice/lease/lease_store.h"

#include <algorithm>
#include <utility>

namespace sluice {

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kCompaction:
      return "compaction";
    case Kind::kFlush:
      return "flush";
    case Kind::kLogPlacement:
      return "log-placement";
  }
  return "";
}

std::optional<Kind> KindNamed(std::string_view name) {
  for (const Kind kind :
       {Kind::kCompaction, Kind::kFlush, Kind::kLogPlacement}) {
    if (NameOf(kind) == name) return kind;
  }
  return std::nullopt;
}

LeaseStore::Place LeaseStore::PlaceOf(const Lease& lease) {
  return {lease.kind, AspectOf(lease.setting.name), lease.scope};
}

void LeaseStore::AddListener(std::function<void()> changed) {
  listeners_.push_back(std::move(changed));
}

LeaseStore::Given LeaseStore::Set(Lease lease, double time_to_live_seconds,
                                  bool replace) {
  Given given;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const TimePoint now = clock_->Now();
    const auto held = leases_.find(PlaceOf(lease));
    const bool in_force = held != leases_.end() && held->second.ends_at > now;
    if (in_force && held->second.owner != lease.owner && !replace) {
      given.lease = held->second;
      given.refused = true;
      return given;
    }
    // Those that have ended are forgotten soon.
    if (held == leases_.end() && leases_.size() >= kMaxLeases) {
      given.is_full = true;
      return given;
    }
    if (in_force) given.before = held->second;
    lease.ends_at = now + FromSeconds(time_to_live_seconds);
    leases_.insert_or_assign(PlaceOf(lease), lease);
    given.lease = std::move(lease);
  }
  CountAndNotify();
  return given;
}

void LeaseStore::Revert(const Given& given) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto held = leases_.find(PlaceOf(given.lease));
    if (held == leases_.end() || held->second.owner != given.lease.owner ||
        held->second.ends_at != given.lease.ends_at) {
      return;
    }
    leases_.erase(held);
    if (given.before) leases_.emplace(PlaceOf(*given.before), *given.before);
  }
  CountAndNotify();
}

size_t LeaseStore::Clear(const std::string& owner) {
  return End([&](const Lease& lease) { return lease.owner == owner; });
}

size_t LeaseStore::Clear(const std::string& owner, Kind kind,
                         const std::string& scope) {
  return End([&](const Lease& lease) {
    return lease.owner == owner && lease.kind == kind && lease.scope == scope;
  });
}

size_t LeaseStore::EndAll(Kind kind) {
  return End([&](const Lease& lease) { return lease.kind == kind; });
}

size_t LeaseStore::EndWithin(const std::string& scope) {
  return End([&](const Lease& lease) {
    return scope.empty() || lease.scope == scope ||
           lease.scope.rfind(scope + "/", 0) == 0;
  });
}

void LeaseStore::Sweep() {
  if (IsEmpty()) return;
  End([](const Lease&) { return false; });
}

size_t LeaseStore::End(const std::function<bool(const Lease&)>& matches) {
  size_t ended = 0;
  size_t forgotten = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const TimePoint now = clock_->Now();
    for (auto each = leases_.begin(); each != leases_.end();) {
      const bool is_over = each->second.ends_at <= now;
      if (!is_over && !matches(each->second)) {
        ++each;
        continue;
      }
      ++(is_over ? forgotten : ended);
      each = leases_.erase(each);
    }
  }
  if (ended + forgotten > 0) CountAndNotify();
  return ended;
}

void LeaseStore::CountAndNotify() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::array<std::array<size_t, kAspects>, kKinds> counts{};
    for (const auto& [place, lease] : leases_) {
      const auto& [kind, aspect, scope] = place;
      ++counts[static_cast<size_t>(kind)][static_cast<size_t>(aspect)];
    }
    for (size_t kind = 0; kind < counts.size(); ++kind) {
      for (size_t aspect = 0; aspect < kAspects; ++aspect) {
        counts_[kind][aspect] = counts[kind][aspect];
      }
    }
    count_ = leases_.size();
  }
  for (const auto& changed : listeners_) changed();
}

std::optional<Lease> LeaseStore::Find(
    Kind kind, Aspect aspect, const std::vector<std::string>& scopes) const {
  if (!MayHave(kind, aspect)) return std::nullopt;
  std::lock_guard<std::mutex> lock(mutex_);
  const TimePoint now = clock_->Now();
  for (const std::string& scope : scopes) {
    const auto found = leases_.find(Place{kind, aspect, scope});
    if (found != leases_.end() && found->second.ends_at > now) {
      return found->second;
    }
  }
  return std::nullopt;
}

std::vector<Lease> LeaseStore::All() const {
  std::lock_guard<std::mutex> lock(mutex_);
  const TimePoint now = clock_->Now();
  std::vector<Lease> in_force;
  for (const auto& [place, lease] : leases_) {
    if (lease.ends_at > now) in_force.push_back(lease);
  }
  return in_force;
}

double LeaseStore::SecondsLeft(const Lease& lease) const {
  return std::max(0.0, Seconds(lease.ends_at - clock_->Now()));
}

}  // namespace sluice
