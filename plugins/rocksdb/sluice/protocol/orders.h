// What a store lets be ordered and seen; the methods of the protocol call it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/lease/lease_store.h"
#include "sluice/protocol/json.h"
#include "sluice/protocol/refusal.h"

namespace sluice {

// What any store lets a lease last.
inline constexpr double kSmallestTimeToLiveSeconds = 0.001;
inline constexpr double kLargestTimeToLiveSeconds = 1e9;

struct Capability {
  Kind kind;
  std::vector<SettingName> settings;
  bool can_start = false;
  std::vector<std::string> variants;
};

struct Description {
  std::string instance;
  std::string store_version;
  std::string plugin_version;
  std::vector<Capability> capabilities;
  double max_time_to_live_seconds = 600;
};

// Called by the thread of the socket: nothing may wait for the store.
class OrderedStore {
 public:
  virtual ~OrderedStore() = default;

  virtual const Description& Describe() const = 0;
  virtual bool HasScope(Kind kind, const std::string& scope) const = 0;
  // Why this cannot be ordered: never on that scope, or not now because of the
  // store's own limits.
  virtual std::optional<Refusal> ForbidsOrder(
      Kind kind, Aspect aspect, const std::string& scope) const = 0;
  // Starts tasks, or says why not.
  virtual std::optional<Refusal> Start(Kind kind, const std::string& scope,
                                       const std::string& owner) = 0;
  // Members tasks, debts, latencies and figures of a snapshot.
  virtual Json Snapshot() const = 0;
};

}  // namespace sluice
