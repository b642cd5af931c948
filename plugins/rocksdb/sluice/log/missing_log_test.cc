// Databases of which a log is missing, while the slow tier has a part of it:
// they stay closed, unless RocksDB has removed the log itself.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sluice/log/log_paths.h"
#include "sluice/log/needed_logs.h"
#include "sluice/log/tiered_logs.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FileLock;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WalFile;
using ROCKSDB_NAMESPACE::WriteOptions;

FileSystem* Files() { return FileSystem::Default().get(); }

class MissingLogTest : public OpenedStore {
 protected:
  MissingLogTest()
      : slow_(folder_ + "/slow"),
        database_(folder_ + "/orders"),
        parts_(slow_ + "/" + SlowFolderName(database_)) {
    std::filesystem::create_directory(slow_);
    options_.create_missing_column_families = true;
  }
  ~MissingLogTest() override { Close(); }

  // With a second family, whose data keeps logs.
  Status TryToOpen() {
    const Options options =
        OptionsWith("remote=false;wal_slow_directory=" + slow_);
    return DB::Open(options, database_,
                    {{ROCKSDB_NAMESPACE::kDefaultColumnFamilyName, options},
                     {"other", options}},
                    &families_, &db_);
  }
  void Open() {
    const Status status = TryToOpen();
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void Close() {
    for (ColumnFamilyHandle* each : families_) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(each).ok());
    }
    families_.clear();
    db_.reset();
  }
  void ExpectRefusal(const std::string& reason) {
    const Status status = TryToOpen();
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_NE(status.ToString().find(reason), std::string::npos)
        << status.ToString();
  }

  void PutIntoOther(const std::string& value) {
    other_ = value;
    ASSERT_TRUE(db_->Put(WriteOptions(), families_[1], "key", value).ok());
  }
  void ExpectAllThere() {
    OpenedStore::ExpectAllThere();
    std::string found;
    ASSERT_TRUE(db_->Get(ReadOptions(), families_[1], "key", &found).ok());
    EXPECT_EQ(found, other_);
  }
  // Gives the number of the older one, which the other family needs.
  uint64_t WriteTwoLogsToTheSlowTier() {
    Set("log-placement", "", {{"name", "tier"}, {"text", "slow"}});
    PutIntoOther("needed");
    Put(1);
    std::unique_ptr<WalFile> log;
    EXPECT_TRUE(db_->GetCurrentWalFile(&log).ok());
    EXPECT_TRUE(db_->Flush(FlushOptions()).ok());
    Put(2);
    return log->LogNumber();
  }
  std::string Log(uint64_t number) const {
    return database_ + "/" + LogName(number);
  }
  std::string Part(uint64_t number) const {
    return parts_ + "/" + NumberedName(number, ".slow-log");
  }

  const std::string slow_;
  const std::string database_;
  const std::string parts_;
  std::vector<ColumnFamilyHandle*> families_;
  std::string other_;
};

TEST_F(MissingLogTest, KeepsTheDatabaseClosedUntilItIsBack) {
  Open();
  const uint64_t older = WriteTwoLogsToTheSlowTier();
  Close();
  std::filesystem::rename(Log(older), folder_ + "/away");
  // The first time has changed nothing.
  for (int i = 0; i < 2; ++i) ExpectRefusal(LogName(older));
  std::filesystem::rename(folder_ + "/away", Log(older));
  Open();
  ExpectAllThere();
}

TEST_F(MissingLogTest, IsDoneWithoutOnceItsPartWasMovedAway) {
  Open();
  const uint64_t older = WriteTwoLogsToTheSlowTier();
  Close();
  std::filesystem::remove(Log(older));
  ExpectRefusal("move their files");
  std::filesystem::rename(Part(older), folder_ + "/away");
  Open();
  std::string found;
  EXPECT_TRUE(
      db_->Get(ReadOptions(), families_[1], "key", &found).IsNotFound());
}

// As by a program that removes logs past the plug-in.
TEST_F(MissingLogTest, IsNotMissedWhereTheStoreHasRemovedIt) {
  Open();
  const uint64_t older = WriteTwoLogsToTheSlowTier();
  std::filesystem::copy(Part(older), folder_ + "/part");
  for (ColumnFamilyHandle* each : families_) {
    ASSERT_TRUE(db_->Flush(FlushOptions(), each).ok());
  }
  Put(3);
  Close();
  ASSERT_FALSE(std::filesystem::exists(Log(older)));
  std::filesystem::copy_file(folder_ + "/part", Part(older),
                             std::filesystem::copy_options::overwrite_existing);
  Open();
  EXPECT_FALSE(std::filesystem::exists(Part(older)));
  ExpectAllThere();
}

TEST_F(MissingLogTest, IsMissedWhereItsFolderIsInUse) {
  Open();
  const uint64_t older = WriteTwoLogsToTheSlowTier();
  Close();
  FileLock* lock = nullptr;
  ASSERT_TRUE(
      Files()->LockFile(parts_ + "/LOCK", IOOptions(), &lock, nullptr).ok());
  std::filesystem::rename(Log(older), folder_ + "/away");
  ExpectRefusal(LogName(older));
  std::filesystem::rename(folder_ + "/away", Log(older));
  Open();
  ExpectAllThere();
  Close();
  ASSERT_TRUE(Files()->UnlockFile(lock, IOOptions(), nullptr).ok());
}

// Of another database the parts mean nothing.
TEST_F(MissingLogTest, IsNotLookedForInTheFolderOfAnotherDatabase) {
  Open();
  const uint64_t older = WriteTwoLogsToTheSlowTier();
  for (ColumnFamilyHandle* each : families_) {
    ASSERT_TRUE(db_->Flush(FlushOptions(), each).ok());
  }
  Close();
  ASSERT_TRUE(ROCKSDB_NAMESPACE::WriteStringToFile(Files(), "another\n",
                                                   parts_ + "/OWNER")
                  .ok());
  const std::string foreign = Part(older + 1000);
  ASSERT_TRUE(ROCKSDB_NAMESPACE::WriteStringToFile(
                  Files(), std::string(1000, 'x'), foreign)
                  .ok());
  Open();
  ExpectAllThere();
  EXPECT_TRUE(std::filesystem::exists(foreign));
}

TEST_F(MissingLogTest, IsToldByTheExportToo) {
  Open();
  const uint64_t older = WriteTwoLogsToTheSlowTier();
  Close();
  const std::string command = std::string(SLUICE_WAL_EXPORT_PATH) + " " +
                              database_ + " " + parts_ + " " + folder_ +
                              "/plain";
  ASSERT_EQ(std::system((command + "-1 >/dev/null").c_str()), 0) << command;
  std::filesystem::remove(Log(older));
  EXPECT_NE(std::system((command + "-2 >/dev/null 2>&1").c_str()), 0);
}

TEST_F(MissingLogTest, TheOldestThatIsNeededIsThatOfTheStore) {
  for (const bool is_atomic : {false, true}) {
    options_.atomic_flush = is_atomic;
    Open();
    for (int i = 0; i < 12; ++i) {
      Put(i);
      PutIntoOther(std::to_string(i));
      std::vector<ColumnFamilyHandle*> flushed = families_;
      if (i % 3 > 0) flushed = {families_[i % 2]};
      ASSERT_TRUE(db_->Flush(FlushOptions(), flushed).ok());
      uint64_t oldest = 0;
      ASSERT_TRUE(
          db_->GetIntProperty(DB::Properties::kMinLogNumberToKeep, &oldest));
      EXPECT_EQ(OldestNeededLog(Files(), database_), oldest);
    }
    Close();
  }
  std::filesystem::remove(database_ + "/CURRENT");
  EXPECT_FALSE(OldestNeededLog(Files(), database_).has_value());
}

// The folder on the slow tier cannot be listed, as by a damaged file system.
class UnlistedFiles : public FileSystemWrapper {
 public:
  UnlistedFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "UnlistedFiles"; }
  IOStatus GetChildren(const std::string& folder, const IOOptions& options,
                       std::vector<std::string>* names,
                       IODebugContext* debug) override {
    if (folder.find("/slow/") != std::string::npos) {
      return IOStatus::IOError(folder, "the test wants it");
    }
    return target()->GetChildren(folder, options, names, debug);
  }
};

TEST_F(MissingLogTest, MayBeInAFolderThatCannotBeListed) {
  UnlistedFiles files;
  std::filesystem::create_directory(database_);
  const LeaseStore leases(MonotonicClock::Default());
  LogCounters counters;
  const QueueReader unknown = [] { return std::nullopt; };
  TieredLogs logs(&files, {database_, database_, parts_},
                  std::make_unique<LogPlacement>(
                      "orders", &leases, PlacementOptions(), unknown, unknown,
                      MonotonicClock::Default()),
                  &counters);
  logs.Prepare(slow_, /*reads_all=*/false).PermitUncheckedError();
  EXPECT_TRUE(logs.refusal().IsIOError()) << logs.refusal().ToString();
}

}  // namespace
}  // namespace sluice
