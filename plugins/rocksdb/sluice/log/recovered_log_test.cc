// What RocksDB's own reader of logs makes of one on two tiers that has lost
// something: records that are whole, and then no more than its mode allows.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/log_reader.h"
#include "db/log_writer.h"
#include "file/sequence_file_reader.h"
#include "file/writable_file_writer.h"
#include "sluice/log/tiered_log_fixture.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::SequentialFileReader;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WALRecoveryMode;
using ROCKSDB_NAMESPACE::WritableFileWriter;
using ROCKSDB_NAMESPACE::WriteOptions;
namespace log = ROCKSDB_NAMESPACE::log;

constexpr uint64_t kNumber = 7;

class Reports : public log::Reader::Reporter {
 public:
  void Corruption(size_t, const Status& status, uint64_t) override {
    if (first.ok()) first = status;
  }

  Status first;
};

class RecoveredLogTest : public testing::Test {
 protected:
  RecoveredLogTest() {
    char folder[] = "/tmp/sluice-log-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    std::filesystem::create_directories(folder_ + "/fast");
    std::filesystem::create_directories(folder_ + "/slow");
    files_ = std::make_unique<LogFiles>(FileSystem::Default().get(),
                                        folder_ + "/fast", folder_ + "/slow");
    path_ = folder_ + "/fast/000007.log";
    MakeLog();
  }
  ~RecoveredLogTest() override {
    writer_.reset();
    std::filesystem::remove_all(folder_);
  }

  void MakeLog() {
    writer_.reset();
    std::unique_ptr<FSWritableFile> fast;
    const LogId id = NewLogId();
    EXPECT_TRUE(files_->Make(path_, FileOptions(), id, &fast).ok());
    auto tiered = std::make_unique<TieredLogWriter>(
        std::move(fast), id,
        std::make_unique<ChosenPlace>(files_.get(), path_, id, &tier_));
    writer_ = std::make_unique<log::Writer>(
        std::make_unique<WritableFileWriter>(std::move(tiered), path_,
                                             FileOptions()),
        kNumber, /*recycle_log_files=*/false);
  }

  void Add(Tier tier, const std::string& record) {
    tier_ = tier;
    ASSERT_TRUE(writer_->AddRecord(WriteOptions(), record).ok());
  }
  void Sync() { ASSERT_TRUE(writer_->file()->Sync(IOOptions(), false).ok()); }
  // Instead of what was written last there is what was there before.
  void LoseEndOfSlow(uint64_t bytes) {
    const std::string path = files_->SlowPath(kNumber);
    const uint64_t size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, WrittenBytes(path) - bytes);
    std::filesystem::resize_file(path, size);
  }

  std::vector<std::string> Recover(WALRecoveryMode mode, Status* reported) {
    std::unique_ptr<FSSequentialFile> file;
    EXPECT_TRUE(files_->OpenForStore(path_, &file).ok());
    Reports reports;
    log::Reader reader(
        nullptr, std::make_unique<SequentialFileReader>(std::move(file), path_),
        &reports, /*checksum=*/true, kNumber);
    std::vector<std::string> records;
    Slice record;
    std::string scratch;
    while (reports.first.ok() && reader.ReadRecord(&record, &scratch, mode)) {
      records.push_back(record.ToString());
    }
    *reported = reports.first;
    return records;
  }

  std::string folder_;
  std::unique_ptr<LogFiles> files_;
  std::string path_;
  Tier tier_ = Tier::kFast;
  std::unique_ptr<log::Writer> writer_;
};

constexpr auto kPointInTime = WALRecoveryMode::kPointInTimeRecovery;
constexpr auto kTolerate = WALRecoveryMode::kTolerateCorruptedTailRecords;
constexpr auto kAbsolute = WALRecoveryMode::kAbsoluteConsistency;
using Records = std::vector<std::string>;

TEST_F(RecoveredLogTest, AWholeLogEndsWithoutAReport) {
  Add(Tier::kFast, "one");
  Add(Tier::kSlow, std::string(100000, 'x'));
  Add(Tier::kFast, "three");
  writer_.reset();
  for (const auto mode : {kPointInTime, kTolerate, kAbsolute}) {
    Status reported;
    EXPECT_EQ(Recover(mode, &reported),
              (Records{"one", std::string(100000, 'x'), "three"}));
    EXPECT_TRUE(reported.ok()) << reported.ToString();
  }
}

// RocksDB must not take it for a writer that died, and go on with the next log.
TEST_F(RecoveredLogTest, AHoleIsReported) {
  Add(Tier::kFast, "one");
  Add(Tier::kSlow, "two");
  Add(Tier::kFast, "three");
  writer_.reset();
  LoseEndOfSlow(1);
  for (const auto mode : {kPointInTime, kTolerate, kAbsolute}) {
    Status reported;
    EXPECT_EQ(Recover(mode, &reported), Records{"one"});
    EXPECT_TRUE(reported.IsCorruption()) << reported.ToString();
  }
}

// A record whose begin is there, and whose rest is not, is no torn tail.
TEST_F(RecoveredLogTest, AHoleWithinARecordIsReported) {
  Add(Tier::kFast, "one");
  Add(Tier::kSlow, std::string(3 << 20, 'x'));
  Add(Tier::kFast, "three");
  writer_.reset();
  LoseEndOfSlow(1);
  for (const auto mode : {kPointInTime, kTolerate, kAbsolute}) {
    Status reported;
    EXPECT_EQ(Recover(mode, &reported), Records{"one"});
    EXPECT_TRUE(reported.IsCorruption()) << reported.ToString();
  }
}

// As of RocksDB's own logs: of no consequence where tails may be torn.
TEST_F(RecoveredLogTest, ATornTailIsReportedAsOneOfRocksDb) {
  Add(Tier::kFast, "one");
  Add(Tier::kSlow, "two");
  writer_.reset();
  LoseEndOfSlow(1);
  Status reported;
  EXPECT_EQ(Recover(kTolerate, &reported), Records{"one"});
  EXPECT_TRUE(reported.ok()) << reported.ToString();
  for (const auto mode : {kPointInTime, kAbsolute}) {
    EXPECT_EQ(Recover(mode, &reported), Records{"one"});
    EXPECT_TRUE(reported.IsCorruption()) << reported.ToString();
  }
}

// Also where a record is in several frames, and a part of it is there.
TEST_F(RecoveredLogTest, WhatWasOnStableStorageIsMissedWithinARecord) {
  const std::string large(3 << 20, 'x');
  Add(Tier::kFast, "one");
  Add(Tier::kSlow, large);
  Sync();
  Add(Tier::kFast, "three");
  writer_.reset();
  LoseEndOfSlow(1);
  for (const auto mode : {kPointInTime, kTolerate, kAbsolute}) {
    Status reported;
    Recover(mode, &reported);
    EXPECT_TRUE(reported.IsIOError()) << reported.ToString();
  }
}

TEST_F(RecoveredLogTest, AnEndAtAnyPlaceOfABlockIsSeen) {
  for (size_t size = 32700; size < 32770; ++size) {
    MakeLog();
    Add(Tier::kFast, std::string(size, 'x'));
    Add(Tier::kSlow, "lost");
    Add(Tier::kFast, "three");
    writer_.reset();
    LoseEndOfSlow(1);
    Status reported;
    EXPECT_EQ(Recover(kPointInTime, &reported),
              Records{std::string(size, 'x')});
    EXPECT_TRUE(reported.IsCorruption()) << size << reported.ToString();
  }
}

TEST_F(RecoveredLogTest, ATornTailAtAnyPlaceOfABlockIsSeen) {
  for (size_t size = 32700; size < 32770; ++size) {
    MakeLog();
    Add(Tier::kFast, std::string(size, 'x'));
    Add(Tier::kSlow, "torn");
    writer_.reset();
    LoseEndOfSlow(1);
    for (const auto mode : {kPointInTime, kTolerate, kAbsolute}) {
      Status reported;
      EXPECT_EQ(Recover(mode, &reported), Records{std::string(size, 'x')});
      EXPECT_EQ(reported.IsCorruption(), mode != kTolerate)
          << size << reported.ToString();
    }
  }
}

}  // namespace
}  // namespace sluice
