#include "sluice/latency/timing_statistics.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::StatsLevel;

class TimingStatisticsTest : public testing::Test {
 protected:
  OperationLatencies latencies_{MonotonicClock::Default()};
  const std::shared_ptr<ROCKSDB_NAMESPACE::Statistics> own_ =
      ROCKSDB_NAMESPACE::CreateDBStatistics();
};

TEST_F(TimingStatisticsTest, TheLevelIsFollowedWhereverItIsSet) {
  own_->set_stats_level(StatsLevel::kExceptTimers);
  TimingStatistics timing(own_, &latencies_);
  EXPECT_EQ(timing.get_stats_level(), StatsLevel::kExceptTimers);
  own_->set_stats_level(StatsLevel::kAll);
  timing.FollowLevel();
  EXPECT_EQ(timing.get_stats_level(), StatsLevel::kAll);
  timing.set_stats_level(StatsLevel::kExceptTickers);
  timing.FollowLevel();
  EXPECT_EQ(own_->get_stats_level(), StatsLevel::kExceptTickers);
}

TEST_F(TimingStatisticsTest, WithoutStatisticsOfTheProgramNothingIsFollowed) {
  TimingStatistics timing(nullptr, &latencies_);
  const auto level = timing.get_stats_level();
  timing.FollowLevel();
  EXPECT_EQ(timing.get_stats_level(), level);
}

}  // namespace
}  // namespace sluice
