#include "sluice/store/order_guard.h"

#include <gtest/gtest.h>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

class OrderGuardTest : public testing::Test {
 protected:
  OrderGuardTest() {
    FamilyState family;
    family.level0_compaction_trigger = 4;
    family.level0_slowdown_trigger = 24;
    family.level0_stop_trigger = 36;
    family.max_memtables = 2;
    family.memtable_size_bytes = 1 << 20;
    store_->families = {family};
  }
  void Hold(Kind kind) {
    leases_.Set({kind, "", {SettingName::kHold, 0}, "ann", {}}, 60, true);
  }
  void Look() { guard_.Look({std::make_shared<StoreState>(), store_}); }
  FamilyState& family() { return store_->families[0]; }

  MovedClock clock_;
  LeaseStore leases_{&clock_};
  Figures figures_;
  OrderGuard guard_{&leases_, &figures_};
  const std::shared_ptr<StoreState> store_ = std::make_shared<StoreState>();
};

TEST_F(OrderGuardTest, FarFromALimitOrdersStay) {
  Hold(Kind::kCompaction);
  family().level0_files = 18;
  Look();
  EXPECT_EQ(leases_.All().size(), 1u);
  EXPECT_FALSE(guard_.Forbids(Kind::kCompaction));
}

TEST_F(OrderGuardTest, NearALimitThoseOfItsKindEnd) {
  Hold(Kind::kCompaction);
  Hold(Kind::kFlush);
  family().level0_files = 19;
  Look();
  ASSERT_EQ(leases_.All().size(), 1u);
  EXPECT_EQ(leases_.All()[0].kind, Kind::kFlush);
  EXPECT_TRUE(guard_.Forbids(Kind::kCompaction));
  EXPECT_FALSE(guard_.Forbids(Kind::kFlush));
  EXPECT_EQ(figures_.All().at("compaction_order_ends_total"), 1u);
}

TEST_F(OrderGuardTest, NoneIsTakenBeforeTheHalfOfTheWay) {
  family().level0_files = 19;
  Look();
  family().level0_files = 15;
  Look();
  EXPECT_TRUE(guard_.Forbids(Kind::kCompaction));
  family().level0_files = 14;
  Look();
  EXPECT_FALSE(guard_.Forbids(Kind::kCompaction));
}

// It was checked before the limit was seen.
TEST_F(OrderGuardTest, AnOrderThatComesAtALimitEnds) {
  family().level0_files = 19;
  Look();
  family().level0_files = 17;
  Hold(Kind::kCompaction);
  Look();
  EXPECT_TRUE(leases_.All().empty());
}

TEST_F(OrderGuardTest, AStallAndObsoleteFilesEndAll) {
  for (const bool is_stalled : {true, false}) {
    store_->is_stalled = is_stalled;
    store_->obsolete_bytes = is_stalled ? 0 : 1ull << 30;
    Hold(Kind::kCompaction);
    Hold(Kind::kFlush);
    Look();
    EXPECT_TRUE(leases_.All().empty()) << is_stalled;
    EXPECT_TRUE(guard_.Forbids(Kind::kFlush));
    store_->is_stalled = false;
    store_->obsolete_bytes = 0;
    Look();
    EXPECT_FALSE(guard_.Forbids(Kind::kFlush));
  }
}

TEST_F(OrderGuardTest, LogsFarBeyondTheirBoundEndOrdersOfFlushes) {
  Hold(Kind::kCompaction);
  Hold(Kind::kFlush);
  store_->max_log_bytes = 1 << 20;
  store_->log_bytes = 3 << 19;
  Look();
  EXPECT_EQ(leases_.All().size(), 2u);
  store_->log_bytes = 2 << 20;
  Look();
  ASSERT_EQ(leases_.All().size(), 1u);
  EXPECT_EQ(leases_.All()[0].kind, Kind::kCompaction);
}

TEST_F(OrderGuardTest, StoresOfOneWriteBufferManagerShareItsBound) {
  const auto other = std::make_shared<StoreState>(*store_);
  for (const auto& store : {store_, other}) {
    store->write_buffers = &leases_;
    store->max_write_buffer_bytes = 1 << 20;
    store->flush_debt_bytes = 1 << 20;
  }
  Hold(Kind::kFlush);
  Look();
  EXPECT_EQ(leases_.All().size(), 1u);
  guard_.Look({store_, other});
  EXPECT_TRUE(leases_.All().empty());
  Look();
  EXPECT_FALSE(guard_.Forbids(Kind::kFlush));
}

TEST_F(OrderGuardTest, WhereLogsGoIsOrderedAtALimitAsWell) {
  const Setting slow{SettingName::kTier, 0, "slow"};
  leases_.Set({Kind::kLogPlacement, "", slow, "ann", {}}, 60, true);
  store_->is_stalled = true;
  Look();
  guard_.EndAll();
  ASSERT_EQ(leases_.All().size(), 1u);
  EXPECT_EQ(leases_.All()[0].setting, slow);
  EXPECT_TRUE(guard_.Forbids(Kind::kFlush));
  EXPECT_FALSE(guard_.Forbids(Kind::kLogPlacement));
}

TEST_F(OrderGuardTest, WithoutAStoreOrdersAreTaken) {
  guard_.EndAll();
  EXPECT_TRUE(guard_.Forbids(Kind::kCompaction));
  guard_.Look({});
  EXPECT_FALSE(guard_.Forbids(Kind::kCompaction));
}

}  // namespace
}  // namespace sluice
