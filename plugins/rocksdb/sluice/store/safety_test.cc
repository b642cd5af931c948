// What orders must never hold up in a real store.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "rocksdb/file_system.h"
#include "rocksdb/sst_file_writer.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Temperature;
using ROCKSDB_NAMESPACE::WriteOptions;

const Json kHold = {{"name", "hold"}};

// Makes no tables while it fails, in a way that is worth another try.
class FailingFiles : public FileSystemWrapper {
 public:
  FailingFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "FailingFiles"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file,
                           IODebugContext* debug) override {
    if (fails && name.size() > 4 && name.substr(name.size() - 4) == ".sst") {
      IOStatus failure = IOStatus::IOError("the test wants it");
      failure.SetRetryable(true);
      return failure;
    }
    return target()->NewWritableFile(name, options, file, debug);
  }

  std::atomic<bool> fails{false};
};

class SafetyTest : public OpenedStore {
 protected:
  std::future<bool> Compact(ColumnFamilyHandle* family) {
    return std::async(std::launch::async, [this, family] {
      return db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr)
          .ok();
    });
  }
  void HoldAFlush() {
    ASSERT_TRUE(Set("flush", "", kHold).contains("lease"));
    Put(7);
    FlushOptions no_wait;
    no_wait.wait = false;
    ASSERT_TRUE(db_->Flush(no_wait).ok());
    AwaitTask("flush", "held");
  }
  void WriteTable(const std::string& path, const std::string& key) {
    ROCKSDB_NAMESPACE::SstFileWriter writer(ROCKSDB_NAMESPACE::EnvOptions(),
                                            options_);
    ASSERT_TRUE(writer.Open(path).ok());
    ASSERT_TRUE(writer.Put(key, "ingested").ok());
    ASSERT_TRUE(writer.Finish().ok());
  }
  bool HasLeases() {
    return !Call("snapshot", Json::object())["leases"].empty();
  }
};

TEST_F(SafetyTest, AHeldCompactionDoesNotHoldUpRecovery) {
  const auto files = std::make_shared<FailingFiles>();
  const auto env = ROCKSDB_NAMESPACE::NewCompositeEnv(files);
  options_.env = env.get();
  Open();
  AddFile(2000);
  AddFile(2000);
  Set("compaction", "", kHold);
  auto compaction = Compact(db_->DefaultColumnFamily());
  AwaitTask("compaction", "held");
  Put(7);
  files->fails = true;
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  files->fails = false;
  Await([this](const Json&) {
    return db_->Put(WriteOptions(), "other", "value").ok();
  });
  compaction.get();
  EXPECT_TRUE(HasLeases());
  ExpectAllThere();
  db_.reset();
}

TEST_F(SafetyTest, AFlushThatHasFailedIsNotShownAsRunning) {
  const auto files = std::make_shared<FailingFiles>();
  const auto env = ROCKSDB_NAMESPACE::NewCompositeEnv(files);
  options_.env = env.get();
  options_.max_bgerror_resume_count = 0;
  Open();
  Put(7);
  files->fails = true;
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  Await([](const Json& snapshot) { return snapshot["tasks"].empty(); });
  files->fails = false;
  db_.reset();
}

class IngestionTest : public SafetyTest,
                      public testing::WithParamInterface<int> {};

// It has stopped all writes by then. With few jobs its own flush does not begin
// before the held one ends, with many its result is not taken over.
TEST_P(IngestionTest, IsNotHeldUpByAHeldFlush) {
  options_.max_write_buffer_number = 6;
  options_.max_background_jobs = GetParam();
  Open();
  HoldAFlush();
  Put(8);
  const std::string path = folder_ + "/ingested.sst";
  WriteTable(path, "key8");
  ASSERT_TRUE(db_->IngestExternalFile({path}, {}).ok());
  values_[8] = "ingested";
  EXPECT_TRUE(HasLeases());
  ExpectAllThere();
}

INSTANTIATE_TEST_SUITE_P(Jobs, IngestionTest, testing::Values(2, 8));

// All databases have their flushes done by the same threads.
TEST_F(SafetyTest, AHeldFlushDoesNotHoldUpTheCloseOfAnotherDatabase) {
  options_.max_write_buffer_number = 6;
  Open();
  std::unique_ptr<DB> other;
  ROCKSDB_NAMESPACE::Options options = db_->GetOptions();
  ASSERT_TRUE(DB::Open(options, folder_ + "/other", &other).ok());
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(other->Put(unlogged, "key", "value").ok());
  HoldAFlush();
  other.reset();
  EXPECT_TRUE(HasLeases());
  ExpectAllThere();
}

TEST_F(SafetyTest, AnIngestionIsNotHeldUpByAFlushOfWhatItOverlaps) {
  options_.max_write_buffer_number = 6;
  Open();
  HoldAFlush();
  const std::string path = folder_ + "/ingested.sst";
  WriteTable(path, "key7");
  auto ingestion = std::async(std::launch::async, [&] {
    return db_->IngestExternalFile({path}, {}).ok();
  });
  EXPECT_EQ(ingestion.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(HasLeases());
  Clear();
  EXPECT_TRUE(ingestion.get());
  values_[7] = "ingested";
  ExpectAllThere();
}

// It waits for the one thread that all databases have their compactions done
// by.
TEST_F(SafetyTest, AStartedCompactionWithoutAThreadDoesNotHoldUpTheClose) {
  auto* const threads = ROCKSDB_NAMESPACE::Env::Default();
  threads->SetBackgroundThreads(1, ROCKSDB_NAMESPACE::Env::LOW);
  Open();
  AddFile(2000);
  AddFile(2000);
  std::unique_ptr<DB> other;
  ROCKSDB_NAMESPACE::Options options = db_->GetOptions();
  options.wal_dir.clear();
  options.db_paths.clear();
  options.cf_paths.clear();
  ASSERT_TRUE(DB::Open(options, folder_ + "/other", &other).ok());
  ASSERT_TRUE(other->Put(WriteOptions(), "key", "value").ok());
  ASSERT_TRUE(other->Flush(FlushOptions()).ok());
  ASSERT_TRUE(Set("compaction", "orders", kHold).contains("lease"));
  auto compaction = Compact(db_->DefaultColumnFamily());
  AwaitTask("compaction", "held");
  EXPECT_TRUE(Call("start", {{"kind", "compaction"},
                             {"scope", "other"},
                             {"owner", "test"},
                             {"time_to_live_seconds", 1}})
                  .empty());
  Await([&](const Json&) {
    return threads->GetThreadPoolQueueLen(ROCKSDB_NAMESPACE::Env::LOW) > 0;
  });
  auto close = std::async(std::launch::async, [&] { other.reset(); });
  EXPECT_EQ(close.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(HasLeases());
  Clear();
  EXPECT_TRUE(compaction.get());
  close.get();
  ExpectAllThere();
}

TEST_F(SafetyTest, ADroppedFamilyIsLetGo) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(
      db_->CreateColumnFamily(ColumnFamilyOptions(options_), "side", &family)
          .ok());
  for (int file = 0; file < 2; ++file) {
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(db_->Put(WriteOptions(), family, std::to_string(i),
                           std::string(1000, 'v'))
                      .ok());
    }
    ASSERT_TRUE(db_->Flush(FlushOptions(), family).ok());
  }
  Await([this](const Json&) {
    return Set("compaction", "orders/side", kHold).contains("lease");
  });
  auto compaction = Compact(family);
  AwaitTask("compaction", "held");
  ASSERT_TRUE(db_->DropColumnFamily(family).ok());
  compaction.get();
  const Json cleared = Call(
      "clear",
      {{"owner", "test"}, {"kind", "compaction"}, {"scope", "orders/side"}});
  EXPECT_EQ(cleared["cleared"], 1);
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
}

// It is made with the mutex of the store locked.
TEST_F(SafetyTest, ACopyToAnotherTemperatureIsNeverHeldOrPutOff) {
  options_.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleFIFO;
  options_.num_levels = 1;
  auto& fifo = options_.compaction_options_fifo;
  fifo.file_temperature_age_thresholds = {{Temperature::kWarm, 1}};
  fifo.allow_trivial_copy_when_change_temperature = true;
  Open();
  Set("compaction", "", kHold);
  Set("compaction", "", {{"name", "defer_until_debt_bytes"}, {"number", 1e12}});
  const auto has_warm_file = [this] {
    std::vector<ROCKSDB_NAMESPACE::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const auto& file : files) {
      if (file.temperature == Temperature::kWarm) return true;
    }
    return false;
  };
  // Their age is looked at when one comes.
  for (int i = 0; i < 5; ++i) {
    AddFile(10);
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
  Await([&](const Json&) { return has_warm_file(); });
  EXPECT_TRUE(HasLeases());
  ExpectAllThere();
}

TEST_F(SafetyTest, AnOpenThatFailsEndsNothingOfTheOpenDatabase) {
  Open();
  ASSERT_TRUE(Set("compaction", "orders", kHold).contains("lease"));
  std::unique_ptr<DB> second;
  EXPECT_FALSE(DB::Open(db_->GetOptions(), db_->GetName(), &second).ok());
  EXPECT_TRUE(HasLeases());
  EXPECT_TRUE(Set("compaction", "orders", kHold).contains("lease"));
}

TEST_F(SafetyTest, AReadOnlyStoreWithTheSameOptionsEndsNothing) {
  Open();
  AddFile(2000);
  AddFile(2000);
  std::unique_ptr<DB> reader;
  ASSERT_TRUE(
      DB::OpenForReadOnly(db_->GetOptions(), db_->GetName(), &reader).ok());
  reader.reset();
  Set("compaction", "", kHold);
  auto compaction = Compact(db_->DefaultColumnFamily());
  AwaitTask("compaction", "held");
  Clear();
  EXPECT_TRUE(compaction.get());
}

TEST_F(SafetyTest, AnOrderStartsAllDatabasesOfItsScopeAtOnce) {
  Open();
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(db_->GetOptions(), folder_ + "/other", &other).ok());
  Put(1);
  ASSERT_TRUE(other->Put(WriteOptions(), "key", "value").ok());
  // It is of the process, whose other databases may have had some.
  const auto started = [](const Json& snapshot) {
    return snapshot["figures"].value("started_orders_total", 0);
  };
  const int before = started(Call("snapshot", Json::object()));
  EXPECT_TRUE(
      Call("start",
           {{"kind", "flush"}, {"owner", "test"}, {"time_to_live_seconds", 1}})
          .empty());
  const auto has_file = [](DB* db) {
    std::string count;
    db->GetProperty("rocksdb.num-files-at-level0", &count);
    return count == "1";
  };
  const Json ended = Await([&](const Json&) {
    return has_file(db_.get()) && has_file(other.get());
  });
  EXPECT_EQ(started(ended), before + 1);
}

}  // namespace
}  // namespace sluice
