#include "sluice/store/compaction_admissions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

const std::vector<std::string> kOrders = {"shop/orders", "shop", ""};
const std::vector<std::string> kUsers = {"shop/users", "shop", ""};

class CompactionAdmissionsTest : public testing::Test {
 protected:
  void Limit(const std::string& scope, double number) {
    leases_.Set({Kind::kCompaction,
                 scope,
                 {SettingName::kConcurrency, number},
                 "ann",
                 {}},
                60, false);
  }
  bool Admit(const std::vector<std::string>& scopes) {
    return admissions_.Admit(scopes, clock_.Now());
  }
  std::shared_ptr<Task> Begin(const std::vector<std::string>& scopes) {
    auto task = std::make_shared<Task>();
    task->scopes = scopes;
    task->freedom = freedom_;
    admissions_.Begin(task);
    return task;
  }

  const std::shared_ptr<Freedom> freedom_ = std::make_shared<Freedom>();
  MovedClock clock_;
  LeaseStore leases_{&clock_};
  Pace pace_{&leases_, &clock_};
  CompactionAdmissions admissions_{&leases_, &pace_};
};

TEST_F(CompactionAdmissionsTest, WithoutAnOrderAnyNumberMayBegin) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Admit(kOrders));
    Begin(kOrders);
  }
}

TEST_F(CompactionAdmissionsTest, OneThatMayBeginCountsBeforeItHasBegun) {
  Limit("shop", 1);
  EXPECT_TRUE(Admit(kOrders));
  EXPECT_FALSE(Admit(kUsers));
}

TEST_F(CompactionAdmissionsTest, OneThatHasBegunCountsOnce) {
  Limit("", 2);
  EXPECT_TRUE(Admit(kOrders));
  Begin({"shop/orders/L0", "shop/*/L0", "*/*/L0", "shop/orders", "shop", ""});
  EXPECT_TRUE(Admit(kUsers));
  EXPECT_FALSE(Admit(kOrders));
}

TEST_F(CompactionAdmissionsTest, WhenOneEndsAnotherMayBegin) {
  Limit("shop/orders", 1);
  EXPECT_TRUE(Admit(kOrders));
  const auto task = Begin(kOrders);
  EXPECT_FALSE(Admit(kOrders));
  EXPECT_TRUE(Admit(kUsers));
  pace_.End(task);
  EXPECT_TRUE(Admit(kOrders));
}

TEST_F(CompactionAdmissionsTest, OneOfADatabaseThatClosesHoldsNobodyUp) {
  Limit("", 1);
  const auto task = Begin(kOrders);
  EXPECT_FALSE(Admit(kUsers));
  freedom_->is_closing = true;
  EXPECT_TRUE(Admit(kUsers));
}

TEST_F(CompactionAdmissionsTest, OneThatNeverBeginsHoldsNobodyUpForLong) {
  Limit("", 1);
  EXPECT_TRUE(Admit(kOrders));
  clock_.Move(CompactionAdmissions::kWaitSeconds);
  EXPECT_FALSE(Admit(kUsers));
  clock_.Move(0.01);
  EXPECT_TRUE(Admit(kUsers));
}

TEST_F(CompactionAdmissionsTest, ARefusalCountsNowhere) {
  Limit("shop/orders", 1);
  Limit("shop", 2);
  EXPECT_TRUE(Admit(kOrders));
  EXPECT_FALSE(Admit(kOrders));
  EXPECT_TRUE(Admit(kUsers));
}

// In many rounds: one that begins while others ask must count neither twice nor
// not at all, and few rounds have such a moment.
TEST_F(CompactionAdmissionsTest, ThreadsThatAskTogetherStayWithinTheOrder) {
  constexpr int kRounds = 500;
  constexpr int kThreads = 8;
  constexpr int kLimit = 3;
  Limit("", kLimit);
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> admitted{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        if (!Admit(kOrders)) return;
        ++admitted;
        Begin(kOrders);
      });
    }
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(admitted, kLimit);
    for (const auto& task : pace_.Running()) pace_.End(task);
  }
}

}  // namespace
}  // namespace sluice
