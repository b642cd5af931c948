// The methods of the local protocol, version 1.2.
#pragma once

#include <string>
#include <variant>

#include "sluice/lease/lease_store.h"
#include "sluice/protocol/json.h"
#include "sluice/protocol/orders.h"
#include "sluice/protocol/params.h"

namespace sluice {

class Methods {
 public:
  Methods(OrderedStore* store, LeaseStore* leases)
      : store_(store), leases_(leases) {}

  using Outcome = std::variant<Json, Refusal>;

  Outcome Call(const std::string& method, const Json& params);

 private:
  struct Order {
    std::string kind;
    std::string scope;
    std::string owner;
    std::string variant;
    double time_to_live_seconds = 0;
    bool replace = false;
    std::string setting_name;
    std::optional<double> number;
    std::optional<std::string> text;
  };

  Outcome Describe(const Json& params) const;
  Outcome Snapshot(const Json& params) const;
  Outcome Set(const Json& params);
  Outcome Clear(const Json& params);
  Outcome Start(const Json& params);
  Outcome Abort(const Json& params) const;

  std::variant<Order, Refusal> ReadOrder(const Json& params,
                                         bool is_start) const;
  void ReadSetting(const Json& members, Params* params, Order* order) const;
  std::optional<Refusal> CheckOrder(const Order& order) const;
  Outcome Give(const Order& order, LeaseStore::Given* given);
  const Capability* CapabilityOf(const std::string& kind) const;
  static Json ToJson(const Lease& lease, double seconds_left);

  OrderedStore* const store_;
  LeaseStore* const leases_;
};

}  // namespace sluice
