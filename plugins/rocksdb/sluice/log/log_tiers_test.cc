// Databases whose logs are on two tiers: they are recovered, also by nobody
// else than the plug-in, and kept closed where a part is gone.
#include "sluice/log/log_tiers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "rocksdb/utilities/checkpoint.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::Checkpoint;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TransactionLogIterator;
using ROCKSDB_NAMESPACE::WriteOptions;

const Json kSlow = {{"name", "tier"}, {"text", "slow"}};
const Json kFast = {{"name", "tier"}, {"text", "fast"}};

constexpr char kFolderVariable[] = "SLUICE_TEST_FOLDER";
constexpr char kLogsVariable[] = "SLUICE_TEST_LOGS";
constexpr char kPipeVariable[] = "SLUICE_TEST_PIPE";

class LogTiersTest : public OpenedStore {
 protected:
  LogTiersTest() : slow_(folder_ + "/slow") {
    std::filesystem::create_directory(slow_);
  }

  void OpenOnTwoTiers() { Open("remote=false;wal_slow_directory=" + slow_); }
  std::string SlowFolder(const std::string& logs) const {
    return slow_ + "/" + SlowFolderName(logs);
  }
  size_t SlowFiles() const {
    size_t count = 0;
    for (const auto& each :
         std::filesystem::directory_iterator(SlowFolder(folder_ + "/orders"))) {
      count += each.path().extension() == ".slow-log";
    }
    return count;
  }
  Json Order(const Json& setting) { return Set("log-placement", "", setting); }
  uint64_t Figure(const char* name) {
    return Call("snapshot", Json::object())["figures"].value(name, uint64_t{0});
  }
  // As a program does that knows nothing of the plug-in.
  Status OpenWithoutPlugin() {
    std::unique_ptr<DB> db;
    return DB::Open(options_, folder_ + "/orders", &db);
  }

  void ExpectRefusal(const char* reason) {
    std::unique_ptr<DB> db;
    ROCKSDB_NAMESPACE::DBOptions with_plugin;
    const auto parsed = ROCKSDB_NAMESPACE::GetDBOptionsFromString(
        ROCKSDB_NAMESPACE::ConfigOptions(),
        ROCKSDB_NAMESPACE::DBOptions(options_),
        "compaction_service={id=sluice;socket_directory=" + folder_ +
            ";remote=false;wal_slow_directory=" + slow_ + "}",
        &with_plugin);
    ASSERT_TRUE(parsed.ok()) << parsed.ToString();
    const Status status = DB::Open(
        Options(with_plugin, ROCKSDB_NAMESPACE::ColumnFamilyOptions(options_)),
        folder_ + "/orders", &db);
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_NE(status.ToString().find(reason), std::string::npos)
        << status.ToString();
  }

  // A process writes to a database, in turns on each tier, until it is killed.
  void WriteInAProcessThatIsKilled(int count) {
    std::array<int, 2> pipe;
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const std::string pipe_end = std::to_string(pipe[1]);
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      // This program anew: the threads of this process are not in its copy.
      ::setenv(kFolderVariable, folder_.c_str(), 1);
      ::setenv(kLogsVariable, options_.wal_dir.c_str(), 1);
      ::setenv(kPipeVariable, pipe_end.c_str(), 1);
      ::execl("/proc/self/exe", "store_test", "--gtest_also_run_disabled_tests",
              "--gtest_filter=LogTiersTest.DISABLED_WritesUntilKilled",
              nullptr);
      ::_exit(1);
    }
    ::close(pipe[1]);
    int acknowledged = 0;
    while (acknowledged < count &&
           ::read(pipe[0], &acknowledged, sizeof(acknowledged)) ==
               sizeof(acknowledged)) {
    }
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    // What it has acknowledged until it died is to be there too.
    while (::read(pipe[0], &acknowledged, sizeof(acknowledged)) ==
           sizeof(acknowledged)) {
    }
    ::close(pipe[0]);
    EXPECT_GE(acknowledged, count);
    for (int key = 1; key <= acknowledged; ++key) {
      values_[key] = std::to_string(key) + std::string(1000, 'v');
    }
  }

  void WriteUntilKilled(int to) {
    // Whatever happens, the test goes on.
    ::alarm(static_cast<unsigned>(Seconds(kPatience)));
    OpenOnTwoTiers();
    for (int key = 1;; ++key) {
      if (key % 10 == 1) Order(key % 20 == 1 ? kSlow : kFast);
      Put(key);
      const bool is_written =
          db_->SyncWAL().ok() && ::write(to, &key, sizeof(key)) == sizeof(key);
      if (!is_written) return;
    }
  }

  std::string slow_;
};

// Run by other tests, as a process of its own.
TEST_F(LogTiersTest, DISABLED_WritesUntilKilled) {
  const char* const folder = std::getenv(kFolderVariable);
  ASSERT_NE(folder, nullptr);
  std::filesystem::remove_all(folder_);
  folder_ = folder;
  slow_ = folder_ + "/slow";
  options_.wal_dir = std::getenv(kLogsVariable);
  WriteUntilKilled(std::atoi(std::getenv(kPipeVariable)));
}

TEST_F(LogTiersTest, LogsMoveByOrderAndAreRecovered) {
  OpenOnTwoTiers();
  Put(1);
  EXPECT_EQ(SlowFiles(), 0u);
  EXPECT_TRUE(Order(kSlow).contains("lease"));
  Put(2);
  EXPECT_EQ(SlowFiles(), 1u);
  EXPECT_GT(Figure("wal_slow_bytes_total"), 1000u);
  Order(kFast);
  Put(3);
  db_.reset();
  OpenOnTwoTiers();
  ExpectAllThere();
  // All was flushed when it was opened.
  EXPECT_EQ(SlowFiles(), 0u);
}

TEST_F(LogTiersTest, WhatWasAcknowledgedIsThereAfterAProcessWasKilled) {
  WriteInAProcessThatIsKilled(200);
  EXPECT_EQ(SlowFiles(), 1u);
  OpenOnTwoTiers();
  ExpectAllThere();
}

TEST_F(LogTiersTest, WithoutThePluginADatabaseStaysClosed) {
  OpenOnTwoTiers();
  Order(kSlow);
  Put(1);
  db_.reset();
  for (const auto mode :
       {ROCKSDB_NAMESPACE::WALRecoveryMode::kTolerateCorruptedTailRecords,
        ROCKSDB_NAMESPACE::WALRecoveryMode::kAbsoluteConsistency,
        ROCKSDB_NAMESPACE::WALRecoveryMode::kPointInTimeRecovery,
        ROCKSDB_NAMESPACE::WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    options_.wal_recovery_mode = mode;
    const Status status = OpenWithoutPlugin();
    EXPECT_TRUE(status.IsCorruption() || status.IsNotSupported())
        << status.ToString();
  }
  OpenOnTwoTiers();
  ExpectAllThere();
  db_.reset();
}

TEST_F(LogTiersTest, WithoutTheSlowTierADatabaseStaysClosed) {
  WriteInAProcessThatIsKilled(30);
  std::filesystem::rename(slow_, slow_ + "-gone");
  std::filesystem::create_directory(slow_);
  ExpectRefusal("slow tier is gone");
  // RocksDB would open it without what it cannot read, and remove the logs.
  options_.paranoid_checks = false;
  ExpectRefusal("slow tier is gone");
  std::filesystem::remove_all(slow_);
  std::filesystem::rename(slow_ + "-gone", slow_);
  OpenOnTwoTiers();
  ExpectAllThere();
  Order(kSlow);
  Put(1000);
  EXPECT_EQ(SlowFiles(), 1u);
}

TEST_F(LogTiersTest, WhatIsAnotherDatabasesIsLeftAlone) {
  OpenOnTwoTiers();
  Order(kSlow);
  Put(1);
  db_.reset();
  OpenOnTwoTiers();
  db_.reset();
  const std::string folder = SlowFolder(folder_ + "/orders");
  ASSERT_TRUE(std::filesystem::exists(folder + "/OWNER"));
  std::ofstream(folder + "/OWNER") << "another\n";
  // Of all logs that this one may have.
  constexpr size_t foreign = 90;
  for (size_t number = 10; number < 10 + foreign; ++number) {
    std::ofstream(folder + "/0000" + std::to_string(number) + ".slow-log")
        << "x";
  }
  OpenOnTwoTiers();
  const uint64_t before = Figure("wal_slow_bytes_total");
  Order(kSlow);
  Put(2);
  ExpectAllThere();
  EXPECT_EQ(Figure("wal_slow_bytes_total"), before);
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  EXPECT_EQ(SlowFiles(), foreign);
}

TEST_F(LogTiersTest, WithoutTheFastTierADatabaseStaysClosed) {
  options_.wal_dir = folder_ + "/fast";
  WriteInAProcessThatIsKilled(30);
  std::filesystem::rename(folder_ + "/fast", folder_ + "/gone");
  ExpectRefusal("bring the device back");
  std::filesystem::remove_all(folder_ + "/fast");
  std::filesystem::rename(folder_ + "/gone", folder_ + "/fast");
  OpenOnTwoTiers();
  ExpectAllThere();
}

// It fails because the folder is in use, and takes nothing away.
TEST_F(LogTiersTest, ASecondOpeningChangesNothing) {
  OpenOnTwoTiers();
  ExpectRefusal("lock");
  Order(kSlow);
  Put(1);
  EXPECT_EQ(SlowFiles(), 1u);
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Put(2);
  db_.reset();
  OpenOnTwoTiers();
  ExpectAllThere();
}

TEST_F(LogTiersTest, WithNoSlowTierNothingIsRedirected) {
  std::filesystem::remove(slow_);
  OpenOnTwoTiers();
  Order(kSlow);
  Put(1);
  EXPECT_FALSE(std::filesystem::exists(slow_));
  db_.reset();
  std::filesystem::create_directory(slow_);
  OpenOnTwoTiers();
  ExpectAllThere();
}

TEST_F(LogTiersTest, LogsFromBeforeAreReadAndRemoved) {
  Open();
  Put(1);
  db_.reset();
  OpenOnTwoTiers();
  Put(2);
  ExpectAllThere();
}

// Whoever makes a copy reads logs as the store does: what it has is for a
// program without the plug-in, too.
TEST_F(LogTiersTest, ACheckpointHasPlainLogs) {
  OpenOnTwoTiers();
  Order(kSlow);
  Put(1);
  Order(kFast);
  Put(2);
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db_.get(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const auto status =
      checkpoint->CreateCheckpoint(folder_ + "/copy", /*log_size=*/1 << 30);
  ASSERT_TRUE(status.ok()) << status.ToString();
  db_.reset();
  ASSERT_TRUE(DB::Open(options_, folder_ + "/copy", &db_).ok());
  ExpectAllThere();
}

TEST_F(LogTiersTest, ExportedLogsAreForAProgramWithoutThePlugin) {
  options_.wal_dir = folder_ + "/logs";
  OpenOnTwoTiers();
  Order(kSlow);
  Put(1);
  Order(kFast);
  Put(2);
  db_.reset();
  const std::string plain = folder_ + "/plain";
  const std::string command = std::string(SLUICE_WAL_EXPORT_PATH) + " " +
                              options_.wal_dir + " " +
                              SlowFolder(options_.wal_dir) + " " + plain;
  ASSERT_EQ(std::system((command + " >/dev/null").c_str()), 0) << command;
  // What is there is not written over.
  EXPECT_NE(std::system((command + " 2>/dev/null").c_str()), 0);
  // A part of a log that is not there is told.
  const std::string lost = SlowFolder(options_.wal_dir) + "/000999.slow-log";
  std::ofstream(lost) << std::string(100, 'x');
  EXPECT_NE(std::system((command + "-2 >/dev/null 2>&1").c_str()), 0);
  std::filesystem::remove(lost);
  options_.wal_dir = plain;
  ASSERT_TRUE(DB::Open(options_, folder_ + "/orders", &db_).ok());
  ExpectAllThere();
}

TEST_F(LogTiersTest, UpdatesAreFollowed) {
  OpenOnTwoTiers();
  Order(kSlow);
  Put(1);
  std::unique_ptr<TransactionLogIterator> updates;
  ASSERT_TRUE(db_->GetUpdatesSince(1, &updates).ok());
  ASSERT_TRUE(updates->Valid());
  Order(kFast);
  Put(2);
  updates->Next();
  ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
  EXPECT_EQ(updates->GetBatch().sequence, 2u);
}

TEST_F(LogTiersTest, ArchivedLogsAreReadAndRemoved) {
  options_.WAL_ttl_seconds = 3600;
  OpenOnTwoTiers();
  Order(kSlow);
  Put(1);
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Put(2);
  const auto archive = folder_ + "/orders/archive";
  ASSERT_TRUE(std::filesystem::exists(archive));
  EXPECT_FALSE(std::filesystem::is_empty(archive));
  std::unique_ptr<TransactionLogIterator> updates;
  ASSERT_TRUE(db_->GetUpdatesSince(1, &updates).ok());
  for (uint64_t number : {1, 2}) {
    ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, number);
    updates->Next();
  }
  db_.reset();
  OpenOnTwoTiers();
  ExpectAllThere();
}

TEST_F(LogTiersTest, ClosedLogsAreMergedIntoTheFastTier) {
  ROCKSDB_NAMESPACE::ColumnFamilyHandle* other = nullptr;
  OpenOnTwoTiers();
  Order(kSlow);
  // What another family has not flushed keeps the log.
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "other", &other).ok());
  ASSERT_TRUE(db_->Put(WriteOptions(), other, "key", "value").ok());
  Put(1);
  Order(kFast);
  const uint64_t before = Figure("wal_merged_logs_total");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Await([&](const Json& shown) {
    return shown["figures"].value("wal_merged_logs_total", uint64_t{0}) ==
           before + 1;
  });
  EXPECT_EQ(SlowFiles(), 0u);
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(other).ok());
}

TEST_F(LogTiersTest, ADatabaseMayBeToldToCloseByManyThreads) {
  for (int round = 0; round < 20; ++round) {
    OpenOnTwoTiers();
    Order(kSlow);
    Put(round);
    ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
    std::vector<std::thread> closing;
    for (int i = 0; i < 4; ++i) {
      closing.emplace_back([this] {
        ROCKSDB_NAMESPACE::CancelAllBackgroundWork(db_.get(), /*wait=*/false);
      });
    }
    for (std::thread& each : closing) each.join();
    db_.reset();
  }
}

}  // namespace
}  // namespace sluice
