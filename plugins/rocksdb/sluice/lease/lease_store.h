// Leases: every order ends by itself.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sluice/lease/setting.h"
#include "sluice/monotonic_clock.h"

namespace sluice {

enum class Kind { kCompaction, kFlush, kLogPlacement };
inline constexpr size_t kKinds = 3;

std::string_view NameOf(Kind kind);
std::optional<Kind> KindNamed(std::string_view name);

struct Lease {
  Kind kind;
  std::string scope;
  Setting setting;
  std::string owner;
  TimePoint ends_at;
};

// The leases of a process, in memory alone. Whether one has ended is decided
// when it is read, so that no thread has to run for it to end. Safe for
// threads.
class LeaseStore {
 public:
  // A snapshot, which has all of them, is one line of at most 1 MiB.
  static constexpr size_t kMaxLeases = 500;

  explicit LeaseStore(const MonotonicClock* clock) : clock_(clock) {}

  // Calls back after every change: an order, a lease that was cleared or has
  // ended. Listeners are added before the first order.
  void AddListener(std::function<void()> changed);

  // Gives, renews or replaces a lease, or returns that of another owner. A new
  // one is refused where there are too many.
  struct Given {
    Lease lease;
    bool refused = false;
    bool is_full = false;
    // What the lease has taken the place of, for Revert.
    std::optional<Lease> before;
  };
  Given Set(Lease lease, double time_to_live_seconds, bool replace);

  // Takes back a lease that was just given, unless it was replaced since.
  void Revert(const Given& given);

  // Ends those of an owner, or of an owner on one kind and scope; says how
  // many.
  size_t Clear(const std::string& owner);
  size_t Clear(const std::string& owner, Kind kind, const std::string& scope);

  // Ends all of a kind, whoever has them; says how many.
  size_t EndAll(Kind kind);

  // Ends those on a scope and on all that is inside it, such as a database
  // that closes.
  size_t EndWithin(const std::string& scope);

  // Forgets those whose time is over and tells the listeners, who alone
  // depend on how often it is called.
  void Sweep();

  // The lease on the first of these scopes that has one: the narrowest comes
  // first.
  std::optional<Lease> Find(Kind kind, Aspect aspect,
                            const std::vector<std::string>& scopes) const;

  std::vector<Lease> All() const;
  double SecondsLeft(const Lease& lease) const;

  // Whether there may be one, at all or of an aspect; takes no lock.
  bool IsEmpty() const { return count_.load(std::memory_order_relaxed) == 0; }
  bool MayHave(Kind kind, Aspect aspect) const {
    return CountOf(kind, aspect).load(std::memory_order_relaxed) > 0;
  }

 private:
  using Place = std::tuple<Kind, Aspect, std::string>;
  using Counts = std::array<std::array<std::atomic<size_t>, kAspects>, kKinds>;

  size_t End(const std::function<bool(const Lease&)>& matches);
  void CountAndNotify();
  const std::atomic<size_t>& CountOf(Kind kind, Aspect aspect) const {
    return counts_[static_cast<size_t>(kind)][static_cast<size_t>(aspect)];
  }
  static Place PlaceOf(const Lease& lease);

  const MonotonicClock* const clock_;
  std::vector<std::function<void()>> listeners_;
  mutable std::mutex mutex_;
  std::map<Place, Lease> leases_;
  std::atomic<size_t> count_{0};
  Counts counts_{};
};

}  // namespace sluice
