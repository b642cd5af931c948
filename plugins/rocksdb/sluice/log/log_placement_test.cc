#include "sluice/log/log_placement.h"

#include <gtest/gtest.h>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

class LogPlacementTest : public testing::Test {
 protected:
  LogPlacement Placement(const PlacementOptions& options) {
    return {"orders",
            &leases_,
            options,
            [this] { return fast_; },
            [this] { return slow_; },
            &clock_};
  }
  void Order(SettingName name, double number, const std::string& text,
             const std::string& scope = "") {
    Setting setting{name, number};
    setting.text = text;
    leases_.Set({Kind::kLogPlacement, scope, setting, "test", {}}, 10, true);
  }
  MovedClock clock_;
  LeaseStore leases_{&clock_};
  std::optional<uint64_t> fast_ = 0;
  std::optional<uint64_t> slow_ = 0;
};

constexpr PlacementOptions kByQueue = {4, 1000, 0.5};

TEST_F(LogPlacementTest, WithoutOptionsAndOrdersAllGoesToTheFastTier) {
  auto placement = Placement({});
  fast_ = 1000;
  EXPECT_FALSE(placement.Sample());
  EXPECT_EQ(placement.Choose(1 << 20), Tier::kFast);
}

TEST_F(LogPlacementTest, NothingIsRedirectedByWhatWasSeenLongAgo) {
  auto placement = Placement(kByQueue);
  placement.Sample();
  EXPECT_EQ(placement.Choose(5000), Tier::kSlow);
  clock_.Move(1);
  EXPECT_EQ(placement.Choose(5000), Tier::kFast);
}

TEST_F(LogPlacementTest, LargeWritesGoToTheSlowTierAndSmallerOnesInAQueue) {
  auto placement = Placement(kByQueue);
  EXPECT_TRUE(placement.Sample());
  EXPECT_EQ(placement.Choose(1000), Tier::kFast);
  EXPECT_EQ(placement.Choose(1001), Tier::kSlow);
  fast_ = 5;
  placement.Sample();
  EXPECT_EQ(placement.Choose(501), Tier::kSlow);
  EXPECT_EQ(placement.Choose(500), Tier::kFast);
  placement.Sample();
  EXPECT_EQ(placement.Choose(1), Tier::kSlow);
  fast_ = 0;
  placement.Sample();
  EXPECT_EQ(placement.Choose(1000), Tier::kSlow);
  EXPECT_EQ(placement.Choose(500), Tier::kFast);
  placement.Sample();
  EXPECT_EQ(placement.Choose(1000), Tier::kFast);
}

TEST_F(LogPlacementTest, NothingIsRedirectedToATierThatIsBusyOrUnknown) {
  auto placement = Placement(kByQueue);
  placement.Sample();
  slow_ = 4;
  EXPECT_EQ(placement.Choose(5000), Tier::kSlow);
  slow_ = 5;
  EXPECT_EQ(placement.Choose(5000), Tier::kFast);
  slow_ = std::nullopt;
  EXPECT_EQ(placement.Choose(5000), Tier::kFast);
}

// The slow tier is busy whenever it is looked at while it takes all writes.
TEST_F(LogPlacementTest, WhatTheSlowTierHasToDoIsThatOfTheWrite) {
  auto placement = Placement(kByQueue);
  slow_ = 5;
  placement.Sample();
  slow_ = 0;
  EXPECT_EQ(placement.Choose(5000), Tier::kSlow);
}

TEST_F(LogPlacementTest, NothingIsRedirectedWhereTheFastTierIsUnknown) {
  auto placement = Placement(kByQueue);
  fast_ = std::nullopt;
  EXPECT_TRUE(placement.Sample());
  EXPECT_EQ(placement.Choose(5000), Tier::kFast);
}

TEST_F(LogPlacementTest, AnOrderNamesTheTierUntilItEnds) {
  auto placement = Placement(kByQueue);
  Order(SettingName::kTier, 0, "slow");
  slow_ = 7;
  EXPECT_EQ(placement.Choose(1), Tier::kSlow);
  Order(SettingName::kTier, 0, "fast", "orders");
  EXPECT_EQ(placement.Choose(5000), Tier::kFast);
  clock_.Move(11);
  slow_ = 0;
  placement.Sample();
  EXPECT_EQ(placement.Choose(1), Tier::kFast);
  EXPECT_EQ(placement.Choose(5000), Tier::kSlow);
}

TEST_F(LogPlacementTest, OrdersTakeThePlaceOfOptions) {
  auto placement = Placement({});
  Order(SettingName::kRedirectQueue, 0, "");
  Order(SettingName::kRedirectSize, 100, "");
  EXPECT_TRUE(placement.Sample());
  EXPECT_EQ(placement.Choose(101), Tier::kSlow);
  EXPECT_EQ(placement.Choose(100), Tier::kFast);
  Order(SettingName::kRedirectStep, 1, "");
  fast_ = 1;
  placement.Sample();
  EXPECT_EQ(placement.Choose(1), Tier::kSlow);
  EXPECT_EQ(placement.Look().threshold_bytes, 0);
}

TEST_F(LogPlacementTest, WhatTheThresholdHasLostDoesNotOutliveItsLimits) {
  auto placement = Placement({});
  const auto order = [this] {
    Order(SettingName::kRedirectQueue, 1, "");
    Order(SettingName::kRedirectSize, 100, "");
    Order(SettingName::kRedirectStep, 1, "");
  };
  order();
  fast_ = 2;
  placement.Sample();
  EXPECT_EQ(placement.Look().threshold_bytes, 0);
  clock_.Move(11);
  EXPECT_FALSE(placement.Sample());
  order();
  fast_ = 1;
  placement.Sample();
  EXPECT_EQ(placement.Look().threshold_bytes, 100);
}

TEST_F(LogPlacementTest, ItIsRedirectingFromTheFirstLongQueueOn) {
  auto placement = Placement(kByQueue);
  EXPECT_FALSE(placement.IsRedirecting());
  placement.Sample();
  EXPECT_FALSE(placement.IsRedirecting());
  fast_ = 5;
  placement.Sample();
  EXPECT_TRUE(placement.IsRedirecting());
  placement.Sample();
  fast_ = 0;
  placement.Sample();
  EXPECT_TRUE(placement.IsRedirecting());
  placement.Sample();
  EXPECT_FALSE(placement.IsRedirecting());
}

TEST_F(LogPlacementTest, ItIsNotRedirectingByWhatWasSeenLongAgo) {
  auto placement = Placement(kByQueue);
  fast_ = 5;
  placement.Sample();
  clock_.Move(1);
  EXPECT_FALSE(placement.IsRedirecting());
}

TEST_F(LogPlacementTest, ItIsRedirectingByAnOrderAlone) {
  auto placement = Placement({});
  EXPECT_FALSE(placement.IsRedirecting());
  Order(SettingName::kTier, 0, "slow");
  EXPECT_TRUE(placement.IsRedirecting());
  Order(SettingName::kTier, 0, "fast");
  EXPECT_FALSE(placement.IsRedirecting());
}

TEST_F(LogPlacementTest, AnOrderForAnotherDatabaseIsNotForThisOne) {
  auto placement = Placement({});
  Order(SettingName::kTier, 0, "slow", "others");
  EXPECT_EQ(placement.Choose(1), Tier::kFast);
}

TEST_F(LogPlacementTest, LogsAreMergedWhileTheFastTierIsIdle) {
  auto placement = Placement({});
  EXPECT_TRUE(placement.MayMerge());
  fast_ = 1;
  EXPECT_FALSE(placement.MayMerge());
  fast_ = std::nullopt;
  EXPECT_TRUE(placement.MayMerge());
  Order(SettingName::kTier, 0, "slow");
  EXPECT_FALSE(placement.MayMerge());
}

}  // namespace
}  // namespace sluice
