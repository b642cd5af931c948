#include "sluice/store/untold_ends.h"

#include <gtest/gtest.h>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

class UntoldEndsTest : public testing::Test {
 protected:
  UntoldEndsTest() { store_.families.resize(1); }

  std::shared_ptr<Task> Begin(Kind kind, uint32_t family = 0) {
    auto task = std::make_shared<Task>();
    task->kind = kind;
    task->family = family;
    task->freedom = freedom_;
    pace_.Begin(task);
    return task;
  }
  void Follow() {
    clock_.Move(1);
    store_.at = clock_.Now();
    FollowUntoldEnds(store_, freedom_.get(), &pace_);
  }

  MovedClock clock_;
  LeaseStore leases_{&clock_};
  Pace pace_{&leases_, &clock_};
  StoreState store_;
  const std::shared_ptr<Freedom> freedom_ = std::make_shared<Freedom>();
};

TEST_F(UntoldEndsTest, AFlushThatTheStoreDoesNotRunHasFailed) {
  const auto compaction = Begin(Kind::kCompaction);
  const auto flush = Begin(Kind::kFlush);
  store_.running_flushes = 1;
  Follow();
  EXPECT_EQ(pace_.Running().size(), 2u);
  store_.running_flushes = 0;
  Follow();
  EXPECT_EQ(pace_.Running(), std::vector{compaction});
}

TEST_F(UntoldEndsTest, WhatBeginsMeanwhileIsLeftAlone) {
  const auto flush = Begin(Kind::kFlush, 7);
  store_.at = clock_.Now();
  FollowUntoldEnds(store_, freedom_.get(), &pace_);
  EXPECT_EQ(pace_.Running(), std::vector{flush});
  EXPECT_FALSE(flush->IsFree());
}

TEST_F(UntoldEndsTest, TasksOfADroppedFamilyAreLetGo) {
  const auto kept = Begin(Kind::kCompaction);
  const auto dropped = Begin(Kind::kCompaction, 7);
  Follow();
  EXPECT_FALSE(kept->IsFree());
  EXPECT_TRUE(dropped->IsFree());
}

TEST_F(UntoldEndsTest, OtherDatabasesAreNotConcerned) {
  const auto flush = Begin(Kind::kFlush, 7);
  clock_.Move(1);
  store_.at = clock_.Now();
  const Freedom other;
  FollowUntoldEnds(store_, &other, &pace_);
  EXPECT_EQ(pace_.Running(), std::vector{flush});
  EXPECT_FALSE(flush->IsFree());
}

}  // namespace
}  // namespace sluice
