#include "sluice/log/log_directory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "sluice/lease/moved_clock.h"
#include "sluice/log/tiered_log_file_system.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FSDirectory;
using ROCKSDB_NAMESPACE::FSDirectoryWrapper;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;

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

  int syncs = 0;

 private:
  class CountingDirectory : public FSDirectoryWrapper {
   public:
    CountingDirectory(std::unique_ptr<FSDirectory> directory, int* syncs)
        : FSDirectoryWrapper(std::move(directory)), syncs_(syncs) {}
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
      ++*syncs_;
      return FSDirectoryWrapper::Fsync(options, debug);
    }

   private:
    int* const syncs_;
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
