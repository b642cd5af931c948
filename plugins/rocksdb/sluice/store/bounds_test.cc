// Bounds of a real store that orders must not have it pass.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::WriteOptions;

constexpr uint64_t kMiB = 1 << 20;
const Json kHold = {{"name", "hold"}};

class BoundsTest : public OpenedStore {
 protected:
  ~BoundsTest() override {
    for (auto* each : families_) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(each).ok());
    }
  }
  void AddFamilies(int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back("side" + std::to_string(i));
    const auto status = db_->CreateColumnFamilies(ColumnFamilyOptions(options_),
                                                  names, &families_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void PutInto(ColumnFamilyHandle* family, const std::string& key) {
    const auto status =
        db_->Put(WriteOptions(), family, key, std::string(1000, 'v'));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  uint64_t LogBytes() const {
    uint64_t sum = 0;
    for (const auto& each :
         std::filesystem::directory_iterator(folder_ + "/orders")) {
      std::error_code is_gone;
      if (each.path().extension() != ".log") continue;
      const auto bytes = std::filesystem::file_size(each.path(), is_gone);
      if (!is_gone) sum += bytes;
    }
    return sum;
  }
  uint64_t Property(const std::string& name) const {
    uint64_t sum = 0;
    db_->GetAggregatedIntProperty("rocksdb." + name, &sum);
    return sum;
  }
  int FlushOrderEnds() {
    return Call("snapshot", Json::object())["figures"].value(
        "flush_order_ends_total", 0);
  }
  bool HasLeases() {
    return !Call("snapshot", Json::object())["leases"].empty();
  }

  std::vector<ColumnFamilyHandle*> families_;
};

class LogBoundTest : public BoundsTest {
 protected:
  LogBoundTest() {
    options_.max_total_wal_size = kMiB;
    options_.max_write_buffer_number = 6;
  }
};

// One thread flushes: RocksDB may keep the logs of two flushes that end at
// once.
TEST_F(LogBoundTest, AFlushThatTheLogsNeedIsNotHeld) {
  options_.max_background_jobs = 2;
  Open();
  AddFamilies(1);
  PutInto(families_[0], "cold");
  Await([this](const Json&) {
    return Set("flush", "orders/side0", kHold).contains("lease");
  });
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    Put(i);
    if (i % 100 > 0) continue;
    Await([this](const Json&) { return LogBytes() <= kMiB * 5 / 4; });
  }
  EXPECT_TRUE(HasLeases());
}

// One thread flushes, for which what the logs need waits.
TEST_F(LogBoundTest, AHeldFlushBeforeItEndsTheOrder) {
  options_.max_background_jobs = 2;
  Open();
  AddFamilies(1);
  PutInto(families_[0], "cold");
  const int before = FlushOrderEnds();
  Await([this](const Json&) {
    return Set("flush", "orders/side0", kHold).contains("lease");
  });
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(db_->Flush(no_wait, families_[0]).ok());
  AwaitTask("flush", "held");
  for (int i = 0; i < 20000; ++i) Put(i);
  Await([&](const Json&) {
    // Writes look whether there are too many.
    Put(0);
    return LogBytes() <= 2 * kMiB && FlushOrderEnds() > before;
  });
  ExpectAllThere();
}

TEST_F(BoundsTest, AFlushThatTheMemoryNeedsIsNotHeld) {
  constexpr int kFamilies = 8;
  options_.db_write_buffer_size = kMiB;
  options_.write_buffer_size = 4 * kMiB;
  options_.arena_block_size = 4096;
  options_.max_background_jobs = 4 * (kFamilies + 1);
  Open();
  AddFamilies(kFamilies);
  ASSERT_TRUE(Set("flush", "", kHold).contains("lease"));
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    PutInto(families_[i % kFamilies], std::to_string(i));
    if (i % 50 > 0) continue;
    Await([this](const Json&) {
      return Property("cur-size-all-mem-tables") <= kMiB * 5 / 4;
    });
  }
  EXPECT_TRUE(HasLeases());
}

// It drops nothing while one of its compactions runs.
TEST_F(BoundsTest, AFifoFamilyDropsWhatIsTooMuchThroughAHold) {
  options_.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleFIFO;
  options_.num_levels = 1;
  options_.level0_file_num_compaction_trigger = 4;
  options_.level0_slowdown_writes_trigger = 1000;
  options_.level0_stop_writes_trigger = 1000;
  options_.compaction_options_fifo.allow_compaction = true;
  options_.compaction_options_fifo.max_table_files_size = kMiB;
  Open();
  ASSERT_TRUE(Set("compaction", "", kHold).contains("lease"));
  for (int i = 0; i < 60; ++i) AddFile(50);
  const Json snapshot = Await([this](const Json&) {
    return Property("live-sst-files-size") <= 2 * kMiB;
  });
  EXPECT_TRUE(FindTask(snapshot, "compaction", "held").is_null());
  EXPECT_TRUE(HasLeases());
}

}  // namespace
}  // namespace sluice
