#include "sluice/io/pace.h"

#include <gtest/gtest.h>

#include <future>

namespace sluice {
namespace {

class PaceTest : public testing::Test {
 protected:
  PaceTest() {
    leases_.AddListener([this] { pace_.Wake(); });
    task_->scopes = {"orders", ""};
    task_->freedom = freedom_;
    pace_.Begin(task_);
  }
  void Hold() {
    leases_.Set({Kind::kCompaction, "", {SettingName::kHold, 0}, "ann", {}}, 60,
                true);
  }
  std::future<void> Write() {
    return std::async(std::launch::async,
                      [this] { pace_.BeforeWrite(task_.get(), 100); });
  }
  void AwaitHeld() {
    while (task_->held_threads == 0) std::this_thread::yield();
  }

  LeaseStore leases_{MonotonicClock::Default()};
  Pace pace_{&leases_, MonotonicClock::Default()};
  std::shared_ptr<Freedom> freedom_ = std::make_shared<Freedom>(false);
  std::shared_ptr<Task> task_ = std::make_shared<Task>();
};

TEST_F(PaceTest, AHeldWriteGoesOnWhenTheLeaseIsCleared) {
  Hold();
  auto write = Write();
  AwaitHeld();
  leases_.Clear("ann");
  write.get();
  EXPECT_EQ(task_->held_threads, 0);
  EXPECT_EQ(task_->bytes_written, 100u);
  EXPECT_GT(task_->throttled_nanoseconds, 0);
}

TEST_F(PaceTest, AHeldWriteGoesOnWhenTheLeaseEnds) {
  leases_.Set({Kind::kCompaction, "", {SettingName::kHold, 0}, "ann", {}}, 0.05,
              true);
  Write().get();
  EXPECT_TRUE(leases_.All().empty());
}

TEST_F(PaceTest, AHeldWriteGoesOnAtShutdownWhateverTheLease) {
  Hold();
  auto write = Write();
  AwaitHeld();
  *freedom_ = true;
  pace_.Wake();
  write.get();
  EXPECT_EQ(leases_.All().size(), 1u);
}

TEST_F(PaceTest, WhatIsExemptNeverWaits) {
  Hold();
  task_->is_exempt = true;
  Write().get();
  EXPECT_EQ(task_->throttled_nanoseconds, 0);
}

TEST_F(PaceTest, ARunningTaskIsShownUntilItsEnd) {
  EXPECT_EQ(pace_.Running().size(), 1u);
  pace_.End(task_);
  EXPECT_TRUE(pace_.Running().empty());
}

}  // namespace
}  // namespace sluice
