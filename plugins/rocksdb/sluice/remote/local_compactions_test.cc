// Compactions that a worker would do otherwise than the store: they stay local.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/listener.h"
#include "rocksdb/utilities/transaction_db.h"
#include "sluice/remote/worker_agent.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::CompactionJobInfo;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Transaction;
using ROCKSDB_NAMESPACE::TransactionDB;
using ROCKSDB_NAMESPACE::TransactionDBOptions;
using ROCKSDB_NAMESPACE::WriteOptions;

class LocalCompactionsTest : public OpenedStore {
 protected:
  LocalCompactionsTest()
      : agent_(std::make_unique<WorkerAgent>(folder_, SLUICE_COMPACT_PATH)) {
    options_.disable_auto_compactions = true;
  }

  std::string Remote() const {
    return "minimum_input_bytes=1;agent_socket=" + agent_->path();
  }
  void Compact() {
    const auto status =
        db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  uint64_t Figure(const std::string& name) {
    const Json figures = Call("snapshot", Json::object())["figures"];
    return figures.contains(name) ? figures[name].get<uint64_t>() : 0;
  }
  uint64_t Local(const std::string& reason) {
    return Figure("local_compactions_" + reason + "_total");
  }

  std::unique_ptr<WorkerAgent> agent_;
};

// A folder is where the next table is to be. RocksDB then does not compact at
// all.
TEST_F(LocalCompactionsTest, WhatIsNotInstalledIsNone) {
  agent_->on_wait = [this](const Json&, std::string answer) {
    for (int number = 10; number < 40; ++number) {
      std::error_code is_there;
      fs::create_directory(
          folder_ + "/orders/0000" + std::to_string(number) + ".sst", is_there);
    }
    return answer;
  };
  Open(Remote());
  AddFile(200);
  AddFile(200);
  const uint64_t failed = Figure("failed_installations_total");
  const uint64_t before = Local("output_invalid");
  EXPECT_FALSE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Figure("failed_installations_total"), failed + 1);
  EXPECT_EQ(Local("output_invalid"), before);
}

// Begins after the compaction was picked, and before it is prepared.
class BlobFilesSwitchedOn : public ROCKSDB_NAMESPACE::EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo&) override {
    const auto status = db->SetOptions({{"enable_blob_files", "true"}});
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
};

TEST_F(LocalCompactionsTest, BlobFilesMayBeSwitchedOnWhenItHasBeenPicked) {
  options_.listeners.push_back(std::make_shared<BlobFilesSwitchedOn>());
  Open(Remote());
  AddFile(200);
  AddFile(200);
  const uint64_t before = Local("blob_files");
  Compact();
  EXPECT_EQ(Local("blob_files"), before + 1);
  ExpectAllThere();
}

// The last options file of the database is made to say that there are some.
void SwitchOnBlobFiles(const std::string& database) {
  std::string last;
  for (const auto& each : fs::directory_iterator(database)) {
    const std::string path = each.path().string();
    if (each.path().filename().string().rfind("OPTIONS-", 0) == 0) {
      last = std::max(last, path);
    }
  }
  std::ifstream read(last);
  std::string text((std::istreambuf_iterator<char>(read)),
                   std::istreambuf_iterator<char>());
  const std::string off = "enable_blob_files=false";
  const size_t at = text.find(off);
  ASSERT_NE(at, std::string::npos);
  std::ofstream(last) << text.replace(at, off.size(), "enable_blob_files=true");
}

TEST_F(LocalCompactionsTest, AWorkerMakesNoBlobFiles) {
  agent_->on_checked = [](const Json& job) {
    SwitchOnBlobFiles(job["database_path"]);
  };
  Open(Remote());
  AddFile(200);
  AddFile(200);
  const uint64_t before = Local("failed");
  Compact();
  EXPECT_EQ(Local("failed"), before + 1);
  ExpectAllThere();
}

class TransactionsTest : public LocalCompactionsTest {
 protected:
  void OpenForTransactions() {
    const auto status =
        TransactionDB::Open(OptionsWith(Remote()), TransactionDBOptions(),
                            folder_ + "/orders", &opened_);
    ASSERT_TRUE(status.ok()) << status.ToString();
    db_.reset(opened_);
  }
  std::unique_ptr<Transaction> Begin() {
    std::unique_ptr<Transaction> begun(
        opened_->BeginTransaction(WriteOptions()));
    begun->SetSnapshot();
    return begun;
  }

  TransactionDB* opened_ = nullptr;
};

// What a worker would drop as if it had never been tells of the conflict.
TEST_F(TransactionsTest, AConflictWithWhatWasDeletedIsSeen) {
  // Of what was flushed the last alone stays in memory, and tells of nothing.
  options_.max_write_buffer_size_to_maintain = 1;
  OpenForTransactions();
  const auto late = Begin();
  // Among others: tables that have one key alone would just be moved.
  ASSERT_TRUE(db_->Put(WriteOptions(), "key50", "v").ok());
  AddFile(10);
  ASSERT_TRUE(db_->SingleDelete(WriteOptions(), "key50").ok());
  AddFile(10);
  AddFile(10);
  const uint64_t before = Local("write_conflict");
  Compact();
  EXPECT_EQ(Local("write_conflict"), before + 1);
  const auto status = late->Put("key50", "late");
  EXPECT_TRUE(status.IsBusy()) << status.ToString();
}

TEST_F(TransactionsTest, TransactionsThatBeganAfterTheWritesDoNotMatter) {
  OpenForTransactions();
  AddFile(200);
  AddFile(200);
  const auto late = Begin();
  const uint64_t before = Figure("remote_compactions_total");
  Compact();
  EXPECT_EQ(Figure("remote_compactions_total"), before + 1);
  ExpectAllThere();
}

// Its options may be others than those of the family.
TEST_F(LocalCompactionsTest, CompactFilesHasOptionsOfItsOwn) {
  Open(Remote());
  AddFile(200);
  AddFile(200);
  std::vector<ROCKSDB_NAMESPACE::LiveFileMetaData> live;
  db_->GetLiveFilesMetaData(&live);
  std::vector<std::string> files;
  for (const auto& each : live) files.push_back(each.name);
  const uint64_t before = Local("compact_files");
  const auto status =
      db_->CompactFiles(ROCKSDB_NAMESPACE::CompactionOptions(), files, 1);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(Local("compact_files"), before + 1);
  ExpectAllThere();
}

TEST_F(LocalCompactionsTest, WhatIsLaterThanATimestampIsTrimmed) {
  options_.comparator = ROCKSDB_NAMESPACE::BytewiseComparatorWithU64Ts();
  Open(Remote());
  std::string early, late;
  ROCKSDB_NAMESPACE::EncodeU64Ts(1, &early);
  ROCKSDB_NAMESPACE::EncodeU64Ts(2, &late);
  for (const std::string& time : {early, late}) {
    ASSERT_TRUE(db_->Put(WriteOptions(), "k", time, time).ok());
    ASSERT_TRUE(db_->Flush(ROCKSDB_NAMESPACE::FlushOptions()).ok());
  }
  db_.reset();
  const auto options = OptionsWith(Remote());
  std::vector<ColumnFamilyHandle*> handles;
  const auto status = DB::OpenAndTrimHistory(
      options, folder_ + "/orders",
      {ColumnFamilyDescriptor(ROCKSDB_NAMESPACE::kDefaultColumnFamilyName,
                              options)},
      &handles, &db_, early);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const ROCKSDB_NAMESPACE::Slice now(late);
  ROCKSDB_NAMESPACE::ReadOptions read;
  read.timestamp = &now;
  std::string value;
  EXPECT_TRUE(db_->Get(read, "k", &value).ok());
  EXPECT_EQ(value, early);
  for (auto* handle : handles) db_->DestroyColumnFamilyHandle(handle);
}

// Else each of them would be placed as if it were the whole.
TEST_F(LocalCompactionsTest, PartsOfACompactionAskForWhatTheyRead) {
  std::atomic<uint64_t> asked{0};
  std::atomic<int> parts{0};
  agent_->on_run = [&](const Json& job) {
    asked += job["input_bytes"].get<uint64_t>();
    ++parts;
    return R"({"result":{"placement":"local","reason":"busy"}})";
  };
  options_.max_subcompactions = 4;
  options_.target_file_size_base = 64 << 10;
  Open(Remote());
  for (const int first : {1000, 2000, 3000, 4000}) AddFile(400, first);
  // Has keys in every part, so that the others are not just moved.
  Put(1000);
  AddFile(1, 4399);
  Compact();
  ASSERT_GE(parts, 2);
  constexpr uint64_t kInputBytes = 4 * 400 * 1000;
  // What is at the border of two parts both read.
  EXPECT_LE(asked, 2 * kInputBytes);
  ExpectAllThere();
}

}  // namespace
}  // namespace sluice
