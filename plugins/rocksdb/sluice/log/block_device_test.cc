#include "sluice/log/block_device.h"

#include <gtest/gtest.h>

#include "sluice/log/redirect_threshold.h"

namespace sluice {
namespace {

constexpr char kDiskstats[] =
    "   7       0 loop0 15 0 310 3 0 0 0 0 0 8 3 0 0 0 0 0 0\n"
    " 253       0 vda 1 2 3 4 5 6 7 8 42 10 11 0 0 0 0 0 0\n"
    " 253       1 vda1 1 2 3\n"
    " 253       2 vda2 1 2 3 4 5 6 7 8 -1 10 11\n"
    " 253       3 vda3 1 2 3 4 5 6 7 8 9";

TEST(BlockDeviceTest, TheQueueIsThatOfTheDevice) {
  EXPECT_EQ(QueueRequestsIn(kDiskstats, 253, 0), 42u);
  EXPECT_EQ(QueueRequestsIn(kDiskstats, 7, 0), 0u);
  EXPECT_EQ(QueueRequestsIn(kDiskstats, 253, 3), 9u);
}

TEST(BlockDeviceTest, WhatIsNoLineOfADeviceHasNoQueue) {
  EXPECT_EQ(QueueRequestsIn(kDiskstats, 8, 0), std::nullopt);
  EXPECT_EQ(QueueRequestsIn(kDiskstats, 253, 1), std::nullopt);
  EXPECT_EQ(QueueRequestsIn(kDiskstats, 253, 2), std::nullopt);
  EXPECT_EQ(QueueRequestsIn("", 253, 0), std::nullopt);
  EXPECT_EQ(QueueRequestsIn("\n\n", 253, 0), std::nullopt);
}

TEST(BlockDeviceTest, AFileSystemWithoutADeviceHasNone) {
  EXPECT_FALSE(BlockDevice::Below("/proc"));
  EXPECT_FALSE(BlockDevice::Below("/no/such/folder"));
  EXPECT_FALSE(BlockDevice::Below("/", "/no/such/file"));
}

TEST(RedirectThresholdTest, ItShrinksWhileTheQueueIsLong) {
  const RedirectLimits limits{8, 1000, 0.25};
  RedirectThreshold threshold;
  EXPECT_EQ(threshold.SizeBytes(limits), 1000);
  threshold.Observe(8, limits);
  EXPECT_EQ(threshold.SizeBytes(limits), 1000);
  threshold.Observe(9, limits);
  threshold.Observe(20, limits);
  EXPECT_EQ(threshold.SizeBytes(limits), 500);
  threshold.Observe(1, limits);
  EXPECT_EQ(threshold.SizeBytes(limits), 500);
  for (int i = 0; i < 5; ++i) threshold.Observe(9, limits);
  EXPECT_EQ(threshold.SizeBytes(limits), 0);
  threshold.Observe(0, limits);
  EXPECT_EQ(threshold.SizeBytes(limits), 250);
  for (int i = 0; i < 5; ++i) threshold.Observe(0, limits);
  EXPECT_EQ(threshold.SizeBytes(limits), 1000);
}

TEST(RedirectThresholdTest, OtherLimitsKeepThePartThatWasLost) {
  RedirectThreshold threshold;
  threshold.Observe(9, {8, 1000, 0.5});
  EXPECT_EQ(threshold.SizeBytes({8, 4000, 0.5}), 2000);
}

}  // namespace
}  // namespace sluice
