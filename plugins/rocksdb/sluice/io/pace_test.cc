#include "sluice/io/pace.h"

#include <gtest/gtest.h>

#include <future>

#include "sluice/lease/moved_clock.h"

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
  void HoldFlushes() {
    leases_.Set({Kind::kFlush, "", {SettingName::kHold, 0}, "ann", {}}, 60,
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
  std::shared_ptr<Freedom> freedom_ = std::make_shared<Freedom>();
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
  freedom_->is_closing = true;
  pace_.Wake();
  write.get();
  EXPECT_EQ(leases_.All().size(), 1u);
}

TEST_F(PaceTest, AHeldWriteGoesOnWhileTheStoreIsInError) {
  Hold();
  auto write = Write();
  AwaitHeld();
  freedom_->is_in_error = true;
  pace_.Wake();
  write.get();
  freedom_->is_in_error = false;
  auto next = Write();
  AwaitHeld();
  leases_.Clear("ann");
  next.get();
}

TEST_F(PaceTest, AtTheEndOfTheProcessNobodyWaits) {
  Hold();
  auto write = Write();
  AwaitHeld();
  pace_.EndWaits();
  write.get();
  Write().get();
  EXPECT_EQ(leases_.All().size(), 1u);
}

TEST_F(PaceTest, WhatIsLetGoNeverWaitsAgain) {
  Hold();
  auto write = Write();
  AwaitHeld();
  pace_.LetGo(task_.get());
  write.get();
  Write().get();
}

TEST_F(PaceTest, WhatIsExemptNeverWaits) {
  Hold();
  task_->is_exempt = true;
  Write().get();
  EXPECT_EQ(task_->throttled_nanoseconds, 0);
}

TEST_F(PaceTest, AHeldFlushGoesOnWhileAnotherDatabaseCloses) {
  task_->kind = Kind::kFlush;
  HoldFlushes();
  auto write = Write();
  AwaitHeld();
  const Freedom other;
  pace_.SetClosing(&other);
  write.get();
  pace_.EndAll(&other);
  EXPECT_EQ(leases_.All().size(), 1u);
}

TEST_F(PaceTest, AHeldFlushGoesOnWhenOneOfItsDatabaseIsNeeded) {
  task_->kind = Kind::kFlush;
  HoldFlushes();
  auto write = Write();
  AwaitHeld();
  const Freedom other;
  pace_.LetFlushesGo(&other);
  EXPECT_FALSE(task_->IsFree());
  pace_.LetFlushesGo(freedom_.get());
  write.get();
}

TEST_F(PaceTest, ACompactionStaysHeldWhileAnotherDatabaseCloses) {
  Hold();
  const Freedom other;
  pace_.SetClosing(&other);
  auto write = Write();
  AwaitHeld();
  leases_.Clear("ann");
  write.get();
}

TEST_F(PaceTest, TheNextFlushThatIsNeededNeverWaits) {
  pace_.LetFlushesGo(freedom_.get(), {7});
  const auto begin = [this](Kind kind, uint32_t family) {
    const auto task = std::make_shared<Task>();
    task->kind = kind;
    task->freedom = freedom_;
    task->family = family;
    pace_.Begin(task);
    return task->IsFree();
  };
  EXPECT_FALSE(begin(Kind::kFlush, 8));
  EXPECT_FALSE(begin(Kind::kCompaction, 7));
  EXPECT_TRUE(begin(Kind::kFlush, 7));
  EXPECT_FALSE(begin(Kind::kFlush, 7));
}

// The store may go on to wait for a thread before the flush has looked.
TEST_F(PaceTest, AHeldFlushGoesOnHoweverSoonAnotherDatabaseHasClosed) {
  task_->kind = Kind::kFlush;
  HoldFlushes();
  auto write = Write();
  AwaitHeld();
  const Freedom other;
  pace_.SetClosing(&other);
  pace_.EndAll(&other);
  EXPECT_TRUE(task_->IsFree());
  leases_.Clear("ann");
  write.get();
}

// A clock that tests move: time passes for the bound alone.
TEST_F(PaceTest, AHeldFlushGoesOnBeforeOneThatWaitsForItsTurn) {
  MovedClock clock;
  LeaseStore leases(&clock);
  Pace pace(&leases, &clock);
  task_->kind = Kind::kFlush;
  leases.Set({Kind::kFlush, "", {SettingName::kHold, 0}, "ann", {}}, 600, true);
  auto write = std::async(std::launch::async,
                          [&] { pace.BeforeWrite(task_.get(), 100); });
  AwaitHeld();
  clock.Move(100);
  EXPECT_EQ(write.wait_for(std::chrono::milliseconds(200)),
            std::future_status::timeout);
  pace.SetFlushQueued(true);
  clock.Move(Pace::kLongestWaitBeforeOthersSeconds - 1);
  pace.SetFlushQueued(true);
  EXPECT_EQ(write.wait_for(std::chrono::milliseconds(200)),
            std::future_status::timeout);
  clock.Move(1);
  write.get();
  EXPECT_TRUE(task_->IsFree());
}

// The waits of a rate are short, each of another write: their sum counts.
class PacedFlushTest : public PaceTest {
 protected:
  PacedFlushTest() {
    task_->kind = Kind::kFlush;
    moved_leases_.Set({Kind::kFlush, "", {SettingName::kRate, 1000}, "ann", {}},
                      600, true);
  }
  // Has writes wait for a second each.
  void WaitFor(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      auto write = BeginWrite();
      while (task_->waiting_threads == 0) std::this_thread::yield();
      moved_clock_.Move(1);
      write.get();
    }
  }
  std::future<void> BeginWrite() {
    return std::async(std::launch::async,
                      [this] { moved_pace_.BeforeWrite(task_.get(), 1000); });
  }
  // Whether the next write does not wait, although no time passes.
  bool GoesOn() {
    auto write = BeginWrite();
    const bool is_written =
        write.wait_for(std::chrono::minutes(1)) == std::future_status::ready;
    moved_clock_.Move(1);
    return is_written;
  }

  static constexpr int kLongest =
      static_cast<int>(Pace::kLongestWaitBeforeOthersSeconds);
  MovedClock moved_clock_;
  LeaseStore moved_leases_{&moved_clock_};
  Pace moved_pace_{&moved_leases_, &moved_clock_};
};

TEST_F(PacedFlushTest, ItGoesOnBeforeOneThatWaitsForItsTurn) {
  moved_pace_.SetFlushQueued(true);
  WaitFor(kLongest);
  EXPECT_FALSE(task_->IsFree());
  EXPECT_TRUE(GoesOn());
  EXPECT_TRUE(task_->IsFree());
}

TEST_F(PacedFlushTest, WaitsWhileNoneWaitsForItsTurnDoNotCount) {
  WaitFor(2 * kLongest);
  moved_pace_.SetFlushQueued(true);
  WaitFor(kLongest - 1);
  moved_pace_.SetFlushQueued(false);
  WaitFor(2 * kLongest);
  EXPECT_FALSE(task_->IsFree());
}

// It may be others each time, or the same one in a moment without a look.
TEST_F(PacedFlushTest, WaitsBeforeOthersAddUp) {
  for (int i = 0; i < kLongest; ++i) {
    moved_pace_.SetFlushQueued(true);
    WaitFor(1);
    moved_pace_.SetFlushQueued(false);
  }
  EXPECT_FALSE(task_->IsFree());
  moved_pace_.SetFlushQueued(true);
  EXPECT_TRUE(GoesOn());
}

TEST_F(PaceTest, AJobEndsWithAllItsTasks) {
  const auto other = std::make_shared<Task>();
  other->freedom = freedom_;
  other->job = 7;
  pace_.Begin(other);
  Task of;
  of.freedom = freedom_;
  pace_.EndJob(of);
  EXPECT_EQ(pace_.Running(), std::vector{other});
  EXPECT_EQ(pace_.FindCompaction(freedom_.get(), 7), other);
  EXPECT_EQ(pace_.FindCompaction(freedom_.get(), 8), nullptr);
  pace_.EndAll(freedom_.get());
  EXPECT_TRUE(pace_.Running().empty());
}

TEST_F(PaceTest, ARunningTaskIsShownUntilItsEnd) {
  EXPECT_EQ(pace_.Running().size(), 1u);
  pace_.End(task_);
  EXPECT_TRUE(pace_.Running().empty());
}

}  // namespace
}  // namespace sluice
