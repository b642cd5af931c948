#include "sluice/worker/job_statistics.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::COMPACT_WRITE_BYTES;
using ROCKSDB_NAMESPACE::OPEN_AND_COMPACT_DB_OPEN_MICROS;
using ROCKSDB_NAMESPACE::SST_READ_MICROS;
using ROCKSDB_NAMESPACE::TICKER_ENUM_MAX;

TEST(JobStatisticsTest, NumbersAddUp) {
  JobStatistics statistics;
  statistics.recordTick(COMPACT_WRITE_BYTES, 3);
  statistics.recordTick(COMPACT_WRITE_BYTES, 4);
  EXPECT_EQ(statistics.getTickerCount(COMPACT_WRITE_BYTES), 7u);
  EXPECT_EQ(statistics.getAndResetTickerCount(COMPACT_WRITE_BYTES), 7u);
  statistics.setTickerCount(COMPACT_WRITE_BYTES, 5);
  EXPECT_EQ(statistics.getTickerCount(COMPACT_WRITE_BYTES), 5u);
}

TEST(JobStatisticsTest, ThoseWithoutANameAreLeftOut) {
  JobStatistics statistics;
  statistics.recordTick(TICKER_ENUM_MAX, 3);
  statistics.setTickerCount(TICKER_ENUM_MAX + 1, 3);
  EXPECT_EQ(statistics.getTickerCount(TICKER_ENUM_MAX), 0u);
  EXPECT_EQ(statistics.getAndResetTickerCount(TICKER_ENUM_MAX + 1), 0u);
}

TEST(JobStatisticsTest, OfTimesOnlyTheOpeningIsTaken) {
  JobStatistics statistics;
  EXPECT_TRUE(statistics.HistEnabledForType(OPEN_AND_COMPACT_DB_OPEN_MICROS));
  EXPECT_FALSE(statistics.HistEnabledForType(SST_READ_MICROS));
  statistics.reportTimeToHistogram(OPEN_AND_COMPACT_DB_OPEN_MICROS, 1500000);
  statistics.reportTimeToHistogram(SST_READ_MICROS, 7000000);
  EXPECT_EQ(statistics.open_seconds(), 1.5);
}

}  // namespace
}  // namespace sluice
