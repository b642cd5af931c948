#include "sluice/protocol/methods.h"

#include <gtest/gtest.h>

#include "sluice/lease/moved_clock.h"
#include "sluice/protocol/two_tables.h"

namespace sluice {
namespace {

class MethodsTest : public testing::Test {
 protected:
  Json Order() const {
    return {{"kind", "compaction"},
            {"scope", "a"},
            {"setting", {{"name", "rate_bytes_per_second"}, {"number", 5e6}}},
            {"owner", "ann"},
            {"time_to_live_seconds", 5}};
  }
  Json With(const char* name, Json value) const {
    Json order = Order();
    order[name] = std::move(value);
    return order;
  }
  Json LogOrder(Json setting) const {
    Json order = With("kind", "log-placement");
    order["setting"] = std::move(setting);
    return order;
  }
  int CodeOf(const std::string& method, const Json& params) {
    const auto outcome = methods_.Call(method, params);
    const auto* refusal = std::get_if<Refusal>(&outcome);
    return refusal == nullptr ? 0 : static_cast<int>(refusal->code);
  }
  Json Result(const std::string& method, const Json& params) {
    return std::get<Json>(methods_.Call(method, params));
  }

  MovedClock clock_;
  LeaseStore leases_{&clock_};
  TwoTables store_;
  Methods methods_{&store_, &leases_};
};

TEST_F(MethodsTest, SetGivesTheLeaseThatTheSnapshotShows) {
  const Json set = Result("set", Order());
  EXPECT_EQ(set["lease"]["setting"]["number"], 5e6);
  EXPECT_EQ(set["lease"]["time_left_seconds"], 5.0);
  clock_.Move(2);
  const Json snapshot = Result("snapshot", Json::object());
  ASSERT_EQ(snapshot["leases"].size(), 1u);
  EXPECT_EQ(snapshot["leases"][0]["time_left_seconds"], 3.0);
}

// A busy machine may do something else between any two looks at the time.
class BusyClock : public MonotonicClock {
 public:
  TimePoint Now() const override {
    later_.Move(1);
    return later_.Now();
  }

 private:
  mutable MovedClock later_;
};

TEST(MethodsOnABusyMachineTest, ALeaseThatIsGivenHasAllOfItsTime) {
  BusyClock clock;
  LeaseStore leases(&clock);
  TwoTables store;
  Methods methods(&store, &leases);
  const Json order = {{"kind", "compaction"},
                      {"setting", {{"name", "hold"}}},
                      {"owner", "ann"},
                      {"time_to_live_seconds", 5}};
  const Json set = std::get<Json>(methods.Call("set", order));
  EXPECT_EQ(set["lease"]["time_left_seconds"], 5.0);
}

TEST_F(MethodsTest, ValuesAreChecked) {
  const auto setting = [](Json value) { return value; };
  EXPECT_EQ(CodeOf("set", With("setting", setting({{"name", "hold"}}))), 0);
  const Json wrong[] = {{{"name", "hold"}, {"number", 1}},
                        {{"name", "hold"}, {"text", "x"}},
                        {{"name", "rate_bytes_per_second"}},
                        {{"name", "rate_bytes_per_second"}, {"number", 0}},
                        {{"name", "rate_bytes_per_second"}, {"number", "7"}},
                        {{"name", "concurrency"}, {"number", 1.5}},
                        {{"name", "Hold"}},
                        {{"number", 1}},
                        "hold"};
  for (const Json& value : wrong) {
    EXPECT_EQ(CodeOf("set", With("setting", value)), -32602) << value;
  }
  EXPECT_EQ(
      CodeOf("set", With("setting", {{"name", "priority"}, {"number", 1}})),
      -32001);
  EXPECT_EQ(CodeOf("set", With("kind", "checkpoint")), -32001);
  EXPECT_EQ(CodeOf("set", With("kind", 7)), -32602);
  EXPECT_EQ(CodeOf("set", With("scope", "c")), -32004);
  EXPECT_EQ(CodeOf("set", With("time_to_live_seconds", 601)), -32602);
  EXPECT_EQ(CodeOf("set", With("colour", "blue")), -32602);
}

TEST_F(MethodsTest, ATierIsOneOfTwoTexts) {
  for (const char* tier : {"fast", "slow"}) {
    const Json setting = {{"name", "tier"}, {"text", tier}};
    EXPECT_EQ(Result("set", LogOrder(setting))["lease"]["setting"], setting);
  }
  const Json snapshot = Result("snapshot", Json::object());
  ASSERT_EQ(snapshot["leases"].size(), 1u);
  EXPECT_EQ(snapshot["leases"][0]["kind"], "log-placement");
  EXPECT_EQ(snapshot["leases"][0]["setting"]["text"], "slow");
  EXPECT_FALSE(snapshot["leases"][0]["setting"].contains("number"));
  const Json wrong[] = {{{"name", "tier"}},
                        {{"name", "tier"}, {"number", 1}},
                        {{"name", "tier"}, {"text", "slow"}, {"number", 1}},
                        {{"name", "tier"}, {"text", 7}},
                        {{"name", "tier"}, {"text", ""}},
                        {{"name", "tier"}, {"text", "ssd"}}};
  for (const Json& value : wrong) {
    EXPECT_EQ(CodeOf("set", LogOrder(value)), -32602) << value;
  }
  const auto outcome = methods_.Call("set", LogOrder(wrong[5]));
  EXPECT_EQ(std::get<Refusal>(outcome).message, "tier is \"fast\" or \"slow\"");
}

TEST_F(MethodsTest, WhatIsRedirectedHasBounds) {
  const auto code_of = [this](const char* name, double number) {
    return CodeOf("set", LogOrder({{"name", name}, {"number", number}}));
  };
  for (const char* name : {"redirect_queue_requests", "redirect_size_bytes",
                           "redirect_step_ratio"}) {
    EXPECT_EQ(code_of(name, 0), 0) << name;
    EXPECT_EQ(code_of(name, 1), 0) << name;
    EXPECT_EQ(code_of(name, -0.5), -32602) << name;
  }
  EXPECT_EQ(code_of("redirect_queue_requests", 1.5), 0);
  EXPECT_EQ(code_of("redirect_size_bytes", 1e12), 0);
  EXPECT_EQ(code_of("redirect_step_ratio", 1.5), -32602);
}

TEST_F(MethodsTest, AspectsOfLogPlacementHaveOwnersOfTheirOwn) {
  const Json slow = {{"name", "tier"}, {"text", "slow"}};
  EXPECT_EQ(CodeOf("set", LogOrder(slow)), 0);
  Json other = LogOrder({{"name", "redirect_queue_requests"}, {"number", 8}});
  other["owner"] = "bob";
  EXPECT_EQ(CodeOf("set", other), 0);
  EXPECT_EQ(leases_.All().size(), 2u);
  other["setting"] = slow;
  const auto outcome = methods_.Call("set", other);
  EXPECT_EQ(std::get<Refusal>(outcome).message,
            "\"ann\" has the lease, with tier=slow");
}

TEST_F(MethodsTest, KindsDoNotShareTheirSettings) {
  EXPECT_EQ(CodeOf("set", LogOrder({{"name", "hold"}})), -32001);
  EXPECT_EQ(
      CodeOf("set", With("setting", {{"name", "tier"}, {"text", "slow"}})),
      -32001);
}

TEST_F(MethodsTest, SchemaComesBeforeCapabilityBeforeScope) {
  Json order = With("kind", "no-such-kind");
  order["scope"] = "c";
  EXPECT_EQ(CodeOf("set", order), -32001);
  order["owner"] = "";
  EXPECT_EQ(CodeOf("set", order), -32602);
}

TEST_F(MethodsTest, TheStoresLimitsForbidOrders) {
  store_.forbidden = Refusal{ErrorCode::kRefused, "writes stall", ""};
  EXPECT_EQ(CodeOf("set", Order()), -32003);
  EXPECT_TRUE(leases_.All().empty());
}

TEST_F(MethodsTest, TooManyLeasesAreRefused) {
  for (size_t i = 0; i < LeaseStore::kMaxLeases; ++i) {
    leases_.Set(
        {Kind::kFlush, std::to_string(i), {SettingName::kHold, 0}, "ann", {}},
        60, false);
  }
  EXPECT_EQ(CodeOf("set", Order()), -32003);
  EXPECT_EQ(CodeOf("start", Order()), -32003);
  EXPECT_TRUE(store_.started.empty());
}

TEST_F(MethodsTest, StartGivesBothOrNeither) {
  EXPECT_EQ(CodeOf("start", Order()), 0);
  EXPECT_EQ(store_.started.size(), 1u);
  EXPECT_EQ(leases_.All().size(), 1u);
  store_.nothing_to_start = Refusal{ErrorCode::kRefused, "no files", ""};
  EXPECT_EQ(CodeOf("start", With("scope", "b")), -32003);
  EXPECT_EQ(leases_.All().size(), 1u);
  EXPECT_EQ(CodeOf("start", With("owner", "bob")), -32002);
  EXPECT_EQ(store_.started.size(), 1u);
}

TEST_F(MethodsTest, StartNeedsNoSettingAndTakesAVariant) {
  Json order = Order();
  order.erase("setting");
  order["variant"] = "major";
  EXPECT_EQ(CodeOf("start", order), 0);
  EXPECT_TRUE(leases_.All().empty());
  order["variant"] = "minor";
  EXPECT_EQ(CodeOf("start", order), -32001);
  order["variant"] = nullptr;
  EXPECT_EQ(CodeOf("start", order), -32602);
  EXPECT_EQ(CodeOf("set", With("variant", "major")), -32602);
}

TEST_F(MethodsTest, WhatCannotBeStartedIsUnsupported) {
  for (const char* kind : {"flush", "log-placement"}) {
    Json order = With("kind", kind);
    order.erase("setting");
    EXPECT_EQ(CodeOf("start", order), -32001) << kind;
  }
}

TEST_F(MethodsTest, ClearCountsWhatItEnds) {
  Result("set", Order());
  EXPECT_EQ(Result("clear", {{"owner", "bob"}})["cleared"], 0);
  EXPECT_EQ(CodeOf("clear", {{"owner", "ann"}, {"scope", "a"}}), -32602);
  EXPECT_EQ(Result("clear", {{"owner", "ann"},
                             {"kind", "compaction"},
                             {"scope", "b"}})["cleared"],
            0);
  EXPECT_EQ(Result("clear", {{"owner", "ann"}})["cleared"], 1);
}

TEST_F(MethodsTest, ALeaseIsClearedWhoseScopeHasGone) {
  leases_.Set({Kind::kCompaction, "gone", {SettingName::kHold, 0}, "ann", {}},
              60, false);
  const Json clear = {
      {"owner", "ann"}, {"kind", "compaction"}, {"scope", "gone"}};
  EXPECT_EQ(Result("clear", clear)["cleared"], 1);
  EXPECT_EQ(CodeOf("clear", clear), -32004);
}

TEST_F(MethodsTest, DescribeRefusesAnotherMajorVersionOnly) {
  const auto of = [](int major, int minor) {
    return Json{{"protocol_version", {{"major", major}, {"minor", minor}}}};
  };
  EXPECT_EQ(Result("describe", of(1, 99))["protocol_version"]["minor"], 2);
  EXPECT_EQ(CodeOf("describe", of(2, 3)), -32007);
  EXPECT_EQ(CodeOf("describe", of(0, 0)), -32007);
  EXPECT_EQ(CodeOf("describe", {{"protocol_version", "1.1"}}), -32602);
}

TEST_F(MethodsTest, NothingCanBeAborted) {
  const Json abort = {{"kind", "compaction"}, {"task", "x"}, {"owner", "ann"}};
  EXPECT_EQ(CodeOf("abort", abort), -32001);
  EXPECT_EQ(CodeOf("abort", Json::object()), -32602);
}

}  // namespace
}  // namespace sluice
