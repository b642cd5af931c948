#include "sluice/io/pace_control.h"

#include <gtest/gtest.h>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

class PaceControlTest : public testing::Test {
 protected:
  std::shared_ptr<Task> Compaction(int level) {
    auto task = std::make_shared<Task>();
    task->level = level;
    const std::string suffix = "/L" + std::to_string(level);
    task->scopes = {"orders/default" + suffix,
                    "orders/*" + suffix,
                    "*/*" + suffix,
                    "orders/default",
                    "orders",
                    ""};
    running_.push_back(task);
    Touch(task);
    return task;
  }
  std::shared_ptr<Task> Flush() {
    auto task = std::make_shared<Task>();
    task->kind = Kind::kFlush;
    task->scopes = {"orders/default", "orders", ""};
    running_.push_back(task);
    Touch(task);
    return task;
  }
  void Touch(const std::shared_ptr<Task>& task) {
    task->active_at = clock_.Now().time_since_epoch().count();
  }
  void Order(const std::string& scope, Setting setting,
             Kind kind = Kind::kCompaction) {
    leases_.Set({kind, scope, setting, "ann", {}}, 60, true);
  }
  void Write(const std::shared_ptr<Task>& task, uint64_t bytes) {
    task->bytes_written += bytes;
    control_.Charge(task.get(), clock_.Now());
  }
  double WaitSeconds(const std::shared_ptr<Task>& task) {
    return Seconds(control_.WaitFor(*task, running_, clock_.Now()).time);
  }
  bool IsHeld(const std::shared_ptr<Task>& task) {
    return control_.WaitFor(*task, running_, clock_.Now()).is_held;
  }

  static inline const Setting kHold{SettingName::kHold, 0};
  static inline const Setting kFull{SettingName::kFull, 0};
  static inline const Setting kThousand{SettingName::kRate, 1000};

  MovedClock clock_;
  LeaseStore leases_{&clock_};
  PaceControl control_{&leases_};
  std::vector<std::shared_ptr<Task>> running_;
};

TEST_F(PaceControlTest, WithoutALeaseNothingWaits) {
  const auto task = Compaction(3);
  Compaction(0);
  Flush();
  Write(task, 1 << 30);
  EXPECT_EQ(WaitSeconds(task), 0);
}

TEST_F(PaceControlTest, WhatAnotherNodeDidIsNotPaidFor) {
  Order("orders", kThousand);
  const auto task = Compaction(3);
  task->bytes_remote = 1 << 30;
  task->bytes_read = 500;
  EXPECT_EQ(task->Progress(), (1u << 30) + 500);
  control_.Charge(task.get(), clock_.Now());
  EXPECT_NEAR(WaitSeconds(task), 0.5, 1e-6);
}

// Of two parts of a compaction one goes to another node, and one stays.
TEST_F(PaceControlTest, WhatIsDoneHereIsPaidForBesideWhatAnotherNodeDoes) {
  Order("orders", kThousand);
  const auto task = Compaction(3);
  for (int i = 0; i < 10; ++i) {
    task->bytes_remote += 1000;
    Write(task, 100);
  }
  EXPECT_NEAR(WaitSeconds(task), 1, 1e-6);
}

TEST_F(PaceControlTest, AHoldHoldsItsScopeAlone) {
  Order("orders/*/L1", kHold);
  EXPECT_TRUE(IsHeld(Compaction(1)));
  EXPECT_FALSE(IsHeld(Compaction(2)));
  EXPECT_FALSE(IsHeld(Flush()));
}

TEST_F(PaceControlTest, TheNarrowestLeaseCounts) {
  Order("", kHold);
  Order("orders/default/L0", kFull);
  EXPECT_FALSE(IsHeld(Compaction(0)));
  EXPECT_TRUE(IsHeld(Compaction(1)));
}

TEST_F(PaceControlTest, TasksShareTheRateOfTheirLease) {
  Order("", kThousand);
  const auto first = Compaction(1);
  const auto second = Compaction(1);
  Write(first, 500);
  Write(second, 500);
  EXPECT_NEAR(WaitSeconds(first), 1, 1e-6);
  clock_.Move(1);
  EXPECT_EQ(WaitSeconds(first), 0);
}

TEST_F(PaceControlTest, WhatIsReadAndDroppedCounts) {
  Order("", kThousand);
  const auto task = Compaction(1);
  task->bytes_read = 4000;
  Write(task, 1000);
  EXPECT_NEAR(WaitSeconds(task), 4, 1e-6);
}

TEST_F(PaceControlTest, WhatWasDoneBeforeTheOrderIsFree) {
  const auto task = Compaction(1);
  Write(task, 1 << 30);
  Order("", kThousand);
  Write(task, 1000);
  EXPECT_NEAR(WaitSeconds(task), 1, 1e-6);
}

TEST_F(PaceControlTest, TheDebtOfAnEndedRateIsForgotten) {
  Order("", kThousand);
  const auto task = Compaction(1);
  Write(task, 100000);
  leases_.Clear("ann");
  Write(task, 1);
  Order("", kThousand);
  EXPECT_EQ(WaitSeconds(task), 0);
}

TEST_F(PaceControlTest, UnderARateTheHigherRankGoesFirst) {
  Order("", kThousand);
  const auto deep = Compaction(2);
  EXPECT_EQ(WaitSeconds(deep), 0);
  const auto level0 = Compaction(0);
  EXPECT_GT(WaitSeconds(deep), 0);
  EXPECT_EQ(WaitSeconds(level0), 0);
  const auto flush = Flush();
  EXPECT_GT(WaitSeconds(level0), 0);
  EXPECT_EQ(WaitSeconds(flush), 0);
}

TEST_F(PaceControlTest, WhoDoesNothingHoldsUpNobody) {
  Order("", kThousand);
  const auto deep = Compaction(2);
  const auto level0 = Compaction(0);
  clock_.Move(2 * PaceControl::kActiveSeconds);
  EXPECT_EQ(WaitSeconds(deep), 0);
  Touch(level0);
  EXPECT_GT(WaitSeconds(deep), 0);
  level0->held_threads = 1;
  EXPECT_EQ(WaitSeconds(deep), 0);
}

TEST_F(PaceControlTest, WhoWaitsForARateOfItsOwnHoldsUpNobody) {
  Order("", kThousand);
  Order("", {SettingName::kRate, 1}, Kind::kFlush);
  const auto deep = Compaction(2);
  const auto flush = Flush();
  EXPECT_GT(WaitSeconds(deep), 0);
  flush->waiting_threads = 1;
  Write(flush, 100);
  EXPECT_EQ(WaitSeconds(deep), 0);
}

// It would take what the other one waits for.
TEST_F(PaceControlTest, WhoWaitsForASharedRateGoesFirst) {
  Order("", kThousand);
  const auto deep = Compaction(2);
  const auto level0 = Compaction(0);
  level0->waiting_threads = 1;
  Write(level0, 1000);
  clock_.Move(0.999);
  EXPECT_LT(WaitSeconds(level0), 0.005);
  EXPECT_NEAR(WaitSeconds(deep), 0.01, 1e-6);
}

TEST_F(PaceControlTest, AtFullPaceNobodyIsWaitedFor) {
  const auto deep = Compaction(2);
  const auto level0 = Compaction(0);
  Order("", {SettingName::kPriority, 7});
  Order("orders/default/L2", {SettingName::kPriority, 0});
  EXPECT_GT(WaitSeconds(deep), 0);
  Order("orders/default/L2", kFull);
  EXPECT_EQ(WaitSeconds(deep), 0);
}

TEST_F(PaceControlTest, APriorityReplacesTheRank) {
  const auto deep = Compaction(2);
  const auto level0 = Compaction(0);
  Order("orders/default/L2", {SettingName::kPriority, 7});
  Order("", {SettingName::kPriority, 0});
  EXPECT_EQ(WaitSeconds(deep), 0);
  EXPECT_GT(WaitSeconds(level0), 0);
}

}  // namespace
}  // namespace sluice
