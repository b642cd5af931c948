#include "sluice/log/log_directory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "rocksdb/env.h"
#include "sluice/lease/moved_clock.h"
#include "sluice/log/tiered_log_file_system.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DirFsyncOptions;
using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::FSDirectory;
using ROCKSDB_NAMESPACE::FSDirectoryWrapper;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::WriteOptions;

// Counts how often folders are synced.
class CountingFiles : public FileSystemWrapper {
 public:
  CountingFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "CountingFiles"; }

  IOStatus NewDirectory(const std::string& folder, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* directory,
                        IODebugContext* debug) override {
    IOStatus status = target()->NewDirectory(folder, options, directory, debug);
    if (status.ok()) {
      *directory =
          std::make_unique<CountingDirectory>(std::move(*directory), &syncs);
    }
    return status;
  }

  std::atomic<int> syncs{0};

 private:
  class CountingDirectory : public FSDirectoryWrapper {
   public:
    CountingDirectory(std::unique_ptr<FSDirectory> directory,
                      std::atomic<int>* syncs)
        : FSDirectoryWrapper(std::move(directory)), syncs_(syncs) {}
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
      ++*syncs_;
      return FSDirectoryWrapper::Fsync(options, debug);
    }
    IOStatus FsyncWithDirOptions(const IOOptions& options,
                                 IODebugContext* debug,
                                 const DirFsyncOptions& why) override {
      ++*syncs_;
      return FSDirectoryWrapper::FsyncWithDirOptions(options, debug, why);
    }

   private:
    std::atomic<int>* const syncs_;
  };
};

class LogDirectoryTest : public testing::Test {
 protected:
  LogDirectoryTest() {
    char folder[] = "/tmp/sluice-log-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    for (const char* each : {"/orders", "/logs", "/slow"}) {
      std::filesystem::create_directory(folder_ + each);
    }
  }
  ~LogDirectoryTest() override {
    directory_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Open(const std::string& logs) {
    logs_ = folder_ + logs;
    const LogFolders folders{folder_ + "/orders", logs_, folder_ + "/slow"};
    files_.Add(std::make_shared<TieredLogs>(
        counting_.get(), folders,
        std::make_unique<LogPlacement>(
            "orders", &leases_, PlacementOptions(), [] { return 0; },
            [] { return 0; }, &clock_),
        &counters_));
    ASSERT_TRUE(
        files_.NewDirectory(logs_, IOOptions(), &directory_, nullptr).ok());
  }
  void Write(const std::string& name) {
    std::unique_ptr<FSWritableFile> file;
    ASSERT_TRUE(
        files_.NewWritableFile(logs_ + name, FileOptions(), &file, nullptr)
            .ok());
    ASSERT_TRUE(file->Append("bytes", IOOptions(), nullptr).ok());
  }
  bool IsSynced() {
    const int before = counting_->syncs;
    EXPECT_TRUE(directory_->Fsync(IOOptions(), nullptr).ok());
    return counting_->syncs > before;
  }

  std::string folder_;
  std::string logs_;
  MovedClock clock_;
  LeaseStore leases_{&clock_};
  LogCounters counters_;
  std::shared_ptr<CountingFiles> counting_ = std::make_shared<CountingFiles>();
  TieredLogFileSystem files_{counting_};
  std::unique_ptr<FSDirectory> directory_;
};

TEST_F(LogDirectoryTest, ItIsSyncedOnceForALogThatIsWritten) {
  Open("/logs");
  Write("/000007.log");
  EXPECT_TRUE(IsSynced());
  EXPECT_FALSE(IsSynced());
  std::unique_ptr<FSWritableFile> made_ahead;
  ASSERT_TRUE(files_
                  .NewWritableFile(logs_ + "/000008.log", FileOptions(),
                                   &made_ahead, nullptr)
                  .ok());
  EXPECT_FALSE(IsSynced());
}

// RocksDB asks once for each log, also by SyncWAL() while nothing is in it.
TEST_F(LogDirectoryTest, ALogThatItWasNotSyncedForHasItSyncedWithItself) {
  Open("/logs");
  std::unique_ptr<FSWritableFile> log;
  ASSERT_TRUE(
      files_
          .NewWritableFile(logs_ + "/000007.log", FileOptions(), &log, nullptr)
          .ok());
  EXPECT_FALSE(IsSynced());
  ASSERT_TRUE(log->Sync(IOOptions(), nullptr).ok());
  EXPECT_EQ(counting_->syncs, 0);
  for (int each = 0; each < 2; ++each) {
    ASSERT_TRUE(log->Append("bytes", IOOptions(), nullptr).ok());
    ASSERT_TRUE(log->Sync(IOOptions(), nullptr).ok());
    EXPECT_EQ(counting_->syncs, 1);
  }
}

class LogDirectoryOfAStoreTest : public OpenedStore {
 protected:
  // Before what it is opened with.
  ~LogDirectoryOfAStoreTest() override { db_.reset(); }

  std::shared_ptr<CountingFiles> files_ = std::make_shared<CountingFiles>();
  std::unique_ptr<ROCKSDB_NAMESPACE::Env> env_ =
      ROCKSDB_NAMESPACE::NewCompositeEnv(files_);
};

TEST_F(LogDirectoryOfAStoreTest, IsSyncedForALogThatWasSyncedWhileItWasEmpty) {
  std::filesystem::create_directory(folder_ + "/slow");
  options_.env = env_.get();
  options_.wal_dir = folder_ + "/logs";
  Open("remote=false;wal_slow_directory=" + folder_ + "/slow");
  Put(1);
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db_->SyncWAL().ok());
  const int before = files_->syncs;
  WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(db_->Put(synced, "key", "value").ok());
  EXPECT_EQ(files_->syncs, before + 1);
}

// As where a path of the database's tables is the folder of its logs.
TEST_F(LogDirectoryTest, ItIsSyncedForWhateverElseGetsANameThere) {
  Open("/logs");
  Write("/000007.sst");
  EXPECT_TRUE(IsSynced());
  EXPECT_FALSE(IsSynced());
  ASSERT_TRUE(files_
                  .RenameFile(logs_ + "/000007.sst", logs_ + "/000008.sst",
                              IOOptions(), nullptr)
                  .ok());
  EXPECT_TRUE(IsSynced());
  ASSERT_TRUE(files_
                  .LinkFile(logs_ + "/000008.sst", logs_ + "/000009.sst",
                            IOOptions(), nullptr)
                  .ok());
  EXPECT_TRUE(IsSynced());
}

TEST_F(LogDirectoryTest, TheFolderOfTheDatabaseIsSyncedAlways) {
  Open("/orders");
  EXPECT_TRUE(IsSynced());
  EXPECT_TRUE(IsSynced());
}

}  // namespace
}  // namespace sluice
