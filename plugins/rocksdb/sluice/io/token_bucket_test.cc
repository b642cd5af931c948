#include "sluice/io/token_bucket.h"

#include <gtest/gtest.h>

#include <random>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

TEST(TokenBucketTest, WhatIsTakenHasToBeWaitedFor) {
  MovedClock clock;
  TokenBucket bucket(1000, clock.Now());
  bucket.Take(500);
  EXPECT_EQ(bucket.WaitTime(), FromSeconds(0.5));
  clock.Move(0.2);
  bucket.Advance(1000, clock.Now());
  EXPECT_NEAR(Seconds(bucket.WaitTime()), 0.3, 1e-6);
  clock.Move(0.3);
  bucket.Advance(1000, clock.Now());
  EXPECT_EQ(bucket.WaitTime(), Duration::zero());
}

TEST(TokenBucketTest, ANewRateHoldsForWhatIsLeft) {
  MovedClock clock;
  TokenBucket bucket(1000, clock.Now());
  bucket.Take(1000);
  clock.Move(0.5);
  bucket.Advance(100, clock.Now());
  EXPECT_NEAR(Seconds(bucket.WaitTime()), 5, 1e-6);
}

TEST(TokenBucketTest, OnlyAShortStallIsMadeUpFor) {
  MovedClock clock;
  TokenBucket bucket(1000, clock.Now());
  clock.Move(100);
  bucket.Advance(1000, clock.Now());
  bucket.Take(1000);
  EXPECT_NEAR(Seconds(bucket.WaitTime()), 1 - TokenBucket::kCatchUpSeconds,
              1e-6);
}

TEST(TokenBucketTest, NobodyGoesFasterThanTheRate) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const double rate = 1 + random() % 100000;
    MovedClock clock;
    const TimePoint start = clock.Now();
    TokenBucket bucket(rate, start);
    double written = 0;
    for (int i = 0; i < 100; ++i) {
      const uint64_t bytes = random() % 50000;
      if (random() % 4 == 0) clock.Move((random() % 100) * 0.01);
      bucket.Advance(rate, clock.Now());
      bucket.Take(bytes);
      clock.Move(Seconds(bucket.WaitTime()) + 1e-9);
      written += static_cast<double>(bytes);
      const double seconds = Seconds(clock.Now() - start);
      ASSERT_LE(written,
                rate * (seconds + TokenBucket::kCatchUpSeconds) * 1.001 + 1);
    }
  }
}

}  // namespace
}  // namespace sluice
