#include "sluice/store/family_state.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

FamilyState WithDefaults() {
  FamilyState family;
  family.level0_compaction_trigger = 4;
  family.level0_slowdown_trigger = 20;
  family.level0_stop_trigger = 36;
  family.soft_pending_bytes_limit = 64ull << 30;
  family.max_memtables = 2;
  family.memtable_size_bytes = 64 << 20;
  return family;
}

TEST(FamilyStateTest, FilesOfLevel0ComeCloseToAStall) {
  FamilyState family = WithDefaults();
  family.level0_files = 4;
  EXPECT_EQ(CompactionStallCloseness(family), 0);
  family.level0_files = 16;
  EXPECT_DOUBLE_EQ(CompactionStallCloseness(family), 0.75);
  family.level0_files = 20;
  EXPECT_EQ(CompactionStallCloseness(family), 1);
  family.has_automatic_compactions = false;
  EXPECT_EQ(CompactionStallCloseness(family), 0);
}

TEST(FamilyStateTest, PendingBytesComeCloseToAStall) {
  FamilyState family = WithDefaults();
  family.pending_compaction_bytes = 32ull << 30;
  EXPECT_DOUBLE_EQ(CompactionStallCloseness(family), 0.5);
  family.soft_pending_bytes_limit = 0;
  EXPECT_EQ(CompactionStallCloseness(family), 0);
  family.hard_pending_bytes_limit = 64ull << 30;
  EXPECT_DOUBLE_EQ(CompactionStallCloseness(family), 0.5);
}

TEST(FamilyStateTest, WithoutASlowdownFilesComeCloseToTheStop) {
  FamilyState family = WithDefaults();
  family.level0_slowdown_trigger = -1;
  family.level0_files = 28;
  EXPECT_DOUBLE_EQ(CompactionStallCloseness(family), 0.75);
}

// Between two looks a file may be added.
TEST(FamilyStateTest, OneFileBeforeAStallItIsReached) {
  FamilyState family = WithDefaults();
  family.level0_slowdown_trigger = 6;
  family.level0_files = 4;
  EXPECT_EQ(CompactionStallCloseness(family), 0);
  family.level0_files = 5;
  EXPECT_EQ(CompactionStallCloseness(family), 1);
}

TEST(FamilyStateTest, ATriggerThatIsTheStallItselfIsReachedBefore) {
  FamilyState family = WithDefaults();
  family.level0_slowdown_trigger = 4;
  family.level0_files = 2;
  EXPECT_EQ(CompactionStallCloseness(family), 0);
  family.level0_files = 3;
  EXPECT_EQ(CompactionStallCloseness(family), 1);
}

TEST(FamilyStateTest, TheLastMemtableComesCloseToAStall) {
  FamilyState family = WithDefaults();
  family.active_memtable_bytes = 64 << 20;
  EXPECT_EQ(FlushStallCloseness(family), 0);
  family.unflushed_memtables = 1;
  family.active_memtable_bytes = 48 << 20;
  EXPECT_DOUBLE_EQ(FlushStallCloseness(family), 0.75);
  family.active_memtable_bytes = 0;
  EXPECT_EQ(FlushStallCloseness(family), 0);
}

TEST(FamilyStateTest, WithManyMemtablesTheSlowdownComesOneEarlier) {
  FamilyState family = WithDefaults();
  family.max_memtables = 6;
  family.unflushed_memtables = 5;
  EXPECT_EQ(FlushStallCloseness(family), 1);
}

TEST(FamilyStateTest, DebtIsAtLeastWhatLiesInLevel0) {
  FamilyState family = WithDefaults();
  family.level0_bytes = 100;
  EXPECT_EQ(CompactionDebtBytes(family), 100u);
  family.pending_compaction_bytes = 300;
  EXPECT_EQ(CompactionDebtBytes(family), 300u);
}

TEST(FamilyStateTest, FilesOfFifoAreNoDebt) {
  FamilyState family = WithDefaults();
  family.is_fifo = true;
  family.level0_bytes = 100;
  EXPECT_EQ(CompactionDebtBytes(family), 0u);
}

}  // namespace
}  // namespace sluice
