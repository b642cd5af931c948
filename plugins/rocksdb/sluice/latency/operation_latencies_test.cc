#include "sluice/latency/operation_latencies.h"

#include <gtest/gtest.h>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

TEST(OperationLatenciesTest, AnIntervalEndsAfterItsTime) {
  MovedClock clock;
  OperationLatencies latencies(&clock);
  latencies.RecordRead(100);
  latencies.RecordWrite(7);
  clock.Move(0.5);
  latencies.Tick();
  EXPECT_TRUE(latencies.Intervals().empty());
  clock.Move(0.75);
  latencies.Tick();
  clock.Move(0.25);
  const auto intervals = latencies.Intervals();
  ASSERT_EQ(intervals.size(), 1u);
  EXPECT_DOUBLE_EQ(intervals[0].seconds, 1.25);
  EXPECT_DOUBLE_EQ(intervals[0].age_seconds, 0.25);
  EXPECT_EQ(intervals[0].reads.count, 1u);
  EXPECT_EQ(intervals[0].writes.count, 1u);
}

TEST(OperationLatenciesTest, TheLastIntervalsAreKept) {
  MovedClock clock;
  OperationLatencies latencies(&clock);
  for (size_t i = 0; i < 3 * OperationLatencies::kIntervals; ++i) {
    clock.Move(1);
    latencies.Tick();
  }
  const auto intervals = latencies.Intervals();
  ASSERT_EQ(intervals.size(), OperationLatencies::kIntervals);
  EXPECT_EQ(intervals.back().age_seconds, 0);
  EXPECT_EQ(intervals.back().reads.count, 0u);
}

}  // namespace
}  // namespace sluice
