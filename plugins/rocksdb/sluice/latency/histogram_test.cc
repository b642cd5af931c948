#include "sluice/latency/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

namespace sluice {
namespace {

TEST(HistogramTest, BucketsHoldWhatTheySay) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    const size_t bucket = Histogram::BucketOf(value);
    ASSERT_LT(bucket, Histogram::kBuckets);
    if (bucket == Histogram::kBuckets - 1) continue;
    ASSERT_LE(value, Histogram::UpperMicroseconds(bucket));
    if (bucket > 0) {
      ASSERT_GT(value, Histogram::UpperMicroseconds(bucket - 1));
    }
  }
}

TEST(HistogramTest, BucketsHoldAWeek) {
  constexpr uint64_t kWeekMicroseconds = 7ull * 24 * 3600 * 1000000;
  EXPECT_LT(Histogram::BucketOf(kWeekMicroseconds), Histogram::kBuckets - 1);
}

TEST(HistogramTest, QuantilesAreWithinABucketOfTheSortedValues) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> latency(6, 1.5);
  for (const size_t size : {1, 2, 99, 100, 1000, 20000}) {
    Histogram histogram;
    std::vector<uint64_t> values;
    for (size_t i = 0; i < size; ++i) {
      values.push_back(static_cast<uint64_t>(latency(random)));
      histogram.Record(values.back());
    }
    std::sort(values.begin(), values.end());
    const LatencySummary summary = histogram.TakeInterval();
    const auto at = [&](double share) {
      const auto rank = static_cast<size_t>(std::ceil(share * size));
      return static_cast<double>(values[rank - 1]) * 1e-6;
    };
    EXPECT_EQ(summary.count, size);
    EXPECT_GE(summary.p50_seconds, at(0.5));
    EXPECT_LE(summary.p50_seconds, at(0.5) * 1.04 + 1e-6);
    EXPECT_GE(summary.p99_seconds, at(0.99));
    EXPECT_LE(summary.p99_seconds, at(0.99) * 1.04 + 1e-6);
    EXPECT_GE(summary.p999_seconds, at(0.999));
    EXPECT_GE(summary.max_seconds, at(1));
    EXPECT_LE(summary.max_seconds, at(1) * 1.04 + 1e-6);
  }
}

TEST(HistogramTest, AnIntervalHasWhatCameSinceTheLast) {
  Histogram histogram;
  histogram.Record(10);
  histogram.Record(30);
  LatencySummary first = histogram.TakeInterval();
  EXPECT_EQ(first.count, 2u);
  EXPECT_DOUBLE_EQ(first.mean_seconds, 20e-6);
  histogram.Record(50);
  LatencySummary second = histogram.TakeInterval();
  EXPECT_EQ(second.count, 1u);
  EXPECT_DOUBLE_EQ(second.max_seconds, 50e-6);
  LatencySummary empty = histogram.TakeInterval();
  EXPECT_EQ(empty.count, 0u);
  EXPECT_EQ(empty.max_seconds, 0);
}

TEST(HistogramTest, NothingOfSeveralThreadsIsLost) {
  constexpr int kThreads = 12;
  constexpr int kEach = 5000;
  Histogram histogram;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kEach; ++j) histogram.Record(j);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(histogram.TakeInterval().count, kThreads * kEach);
}

}  // namespace
}  // namespace sluice
