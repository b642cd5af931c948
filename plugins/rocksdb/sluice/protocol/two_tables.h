// What the tests of the protocol give orders to: two scopes, no database.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sluice/protocol/orders.h"

namespace sluice {

class TwoTables : public OrderedStore {
 public:
  const Description& Describe() const override { return description; }
  bool HasScope(Kind, const std::string& scope) const override {
    return scope.empty() || scope == "a" || scope == "b";
  }
  std::optional<Refusal> ForbidsOrder(Kind, Aspect,
                                      const std::string&) const override {
    return forbidden;
  }
  std::optional<Refusal> Start(Kind, const std::string& scope,
                               const std::string& owner) override {
    if (nothing_to_start) return nothing_to_start;
    started.emplace_back(scope, owner);
    return std::nullopt;
  }
  Json Snapshot() const override {
    return {{"tasks", Json::array()},
            {"debts", Json::array()},
            {"latencies", Json::array()},
            {"figures", Json{{"text_bytes", figure_bytes}}},
            {"padding", std::string(padding_bytes, 'x')}};
  }

  Description description{
      "main",
      "11.8.1",
      "1.0",
      {{Kind::kCompaction,
        {SettingName::kRate, SettingName::kHold, SettingName::kConcurrency},
        true,
        {"major"}},
       {Kind::kFlush, {SettingName::kHold}, false, {}},
       {Kind::kLogPlacement,
        {SettingName::kTier, SettingName::kRedirectQueue,
         SettingName::kRedirectSize, SettingName::kRedirectStep},
        false,
        {}}},
      600};
  std::optional<Refusal> forbidden;
  std::optional<Refusal> nothing_to_start;
  std::vector<std::pair<std::string, std::string>> started;
  double figure_bytes = 1;
  size_t padding_bytes = 0;
};

}  // namespace sluice
