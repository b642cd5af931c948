// Databases whose last log ends in the middle of what was written last, on the
// slow tier: they are opened as RocksDB opens them with a log of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sluice/log/log_paths.h"
#include "sluice/log/slow_folder.h"
#include "sluice/log/tiered_log_fixture.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WalFile;
using ROCKSDB_NAMESPACE::WALRecoveryMode;

class TornLogTest : public OpenedStore,
                    public testing::WithParamInterface<WALRecoveryMode> {
 protected:
  TornLogTest() : database_(folder_ + "/orders"), slow_(folder_ + "/slow") {
    options_.wal_recovery_mode = GetParam();
  }

  // A new database with two rows in its log; gives the log's number.
  uint64_t WriteTwoRows(const std::string& more) {
    std::filesystem::remove_all(database_);
    std::filesystem::remove_all(slow_);
    std::filesystem::create_directory(slow_);
    Open(more);
    Set("log-placement", "", {{"name", "tier"}, {"text", "slow"}});
    Put(1);
    Put(2);
    std::unique_ptr<WalFile> log;
    EXPECT_TRUE(db_->GetCurrentWalFile(&log).ok());
    db_.reset();
    return log->LogNumber();
  }
  // What it is opened with, and whether the first row is there, and the second.
  struct Opened {
    Status::Code code;
    bool has_first = false;
    bool has_second = false;

    bool operator==(const Opened&) const = default;
  };
  Opened TryToOpen(const std::string& more) {
    const Status status = DB::Open(OptionsWith(more), database_, &db_);
    Opened opened{status.code()};
    if (!status.ok()) return opened;
    std::string value;
    opened.has_first = db_->Get(ReadOptions(), "key1", &value).ok();
    opened.has_second = db_->Get(ReadOptions(), "key2", &value).ok();
    db_.reset();
    return opened;
  }

  const std::string database_;
  const std::string slow_;
};

TEST_P(TornLogTest, IsWhatItIsToTheStore) {
  const std::string fast_tier = "remote=false";
  const uint64_t stock = WriteTwoRows(fast_tier);
  const std::string path = database_ + "/" + LogName(stock);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const Opened expected = TryToOpen(fast_tier);

  const std::string two_tiers = fast_tier + ";wal_slow_directory=" + slow_;
  // Of its data, all of that, and of its header too.
  for (const uint64_t bytes : {1, 1000, 1050}) {
    const uint64_t tiered = WriteTwoRows(two_tiers);
    const std::string part = slow_ + "/" + SlowFolderName(database_) + "/" +
                             NumberedName(tiered, ".slow-log");
    Spoil(part, WrittenBytes(part) - bytes, bytes, '\0');
    EXPECT_EQ(TryToOpen(two_tiers), expected) << bytes;
  }
  const bool is_absolute = GetParam() == WALRecoveryMode::kAbsoluteConsistency;
  EXPECT_EQ(expected.code, is_absolute ? Status::kCorruption : Status::kOk);
  EXPECT_EQ(expected.has_first, !is_absolute);
  EXPECT_FALSE(expected.has_second);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, TornLogTest,
    testing::Values(WALRecoveryMode::kTolerateCorruptedTailRecords,
                    WALRecoveryMode::kAbsoluteConsistency,
                    WALRecoveryMode::kPointInTimeRecovery,
                    WALRecoveryMode::kSkipAnyCorruptedRecords));

}  // namespace
}  // namespace sluice
