// Orders to a real store.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <utility>

#include "rocksdb/file_system.h"
#include "rocksdb/statistics.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::BottommostLevelCompaction;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;

const Json kHold = {{"name", "hold"}};
const Json kSlow = {{"name", "tier"}, {"text", "slow"}};

// Calls back before it first says how large a table is.
class WatchedSizes : public FileSystemWrapper {
 public:
  WatchedSizes() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "WatchedSizes"; }

  IOStatus GetFileSize(const std::string& name, const IOOptions& options,
                       uint64_t* bytes, IODebugContext* debug) override {
    const bool is_table =
        name.size() > 4 && name.substr(name.size() - 4) == ".sst";
    if (is_table && on_first_table) std::exchange(on_first_table, nullptr)();
    return target()->GetFileSize(name, options, bytes, debug);
  }

  std::function<void()> on_first_table;
};

class OrdersTest : public OpenedStore {
 protected:
  // Compacts L0 into L1, or, once all is there, L1 into itself.
  std::future<bool> Compact() {
    return std::async(std::launch::async, [this] {
      CompactRangeOptions options;
      options.bottommost_level_compaction =
          FilesAtLevel(0) > 0 ? BottommostLevelCompaction::kSkip
                              : BottommostLevelCompaction::kForce;
      return db_->CompactRange(options, nullptr, nullptr).ok();
    });
  }
  Json Describe() {
    return Call("describe",
                {{"protocol_version", {{"major", 1}, {"minor", 2}}}});
  }
  bool HasLeases() {
    return !Call("snapshot", Json::object())["leases"].empty();
  }
};

TEST_F(OrdersTest, DescribeHasWhatThisStoreCanDo) {
  Open();
  const Json described = Describe();
  EXPECT_EQ(described["store"], "rocksdb");
  EXPECT_EQ(described["instance"], "main");
  EXPECT_EQ(described["store_version"], "11.8.1");
  EXPECT_EQ(described["protocol_version"]["minor"], 2);
  EXPECT_EQ(described["capabilities"].size(), 2u);
  EXPECT_EQ(Set("log-placement", "", kSlow)["code"], -32001);
}

TEST_F(OrdersTest, LogsArePlacedByDatabaseWhereThereIsASlowTier) {
  std::filesystem::create_directory(folder_ + "/slow");
  Open("remote=false;wal_slow_directory=" + folder_ + "/slow");
  const Json described = Describe();
  ASSERT_EQ(described["capabilities"].size(), 3u);
  EXPECT_EQ(described["capabilities"][2]["kind"], "log-placement");
  for (const char* scope : {"", "orders"}) {
    EXPECT_TRUE(Set("log-placement", scope, kSlow).contains("lease")) << scope;
  }
  for (const char* scope : {"orders/default", "orders/default/L0", "*/*/L0"}) {
    EXPECT_EQ(Set("log-placement", scope, kSlow)["code"], -32003) << scope;
  }
  for (const char* scope : {"shop", "orders/other"}) {
    EXPECT_EQ(Set("log-placement", scope, kSlow)["code"], -32004) << scope;
  }
  EXPECT_EQ(Call("start", {{"kind", "log-placement"},
                           {"owner", "test"},
                           {"time_to_live_seconds", 1}})["code"],
            -32001);
}

TEST_F(OrdersTest, AHeldCompactionKeepsItsWorkAndGoesOn) {
  Open();
  AddFile(2000);
  AddFile(2000);
  ASSERT_TRUE(Set("compaction", "", kHold).contains("lease"));
  auto compaction = Compact();
  const Json held = AwaitTask("compaction", "held");
  EXPECT_EQ(held["scope"], "orders/default");
  EXPECT_GT(held["bytes_total"], 3000000);
  Clear();
  EXPECT_TRUE(compaction.get());
  EXPECT_EQ(FilesAtLevel(0), 0u);
  ExpectAllThere();
}

// A slow file system must not have others begin meanwhile.
TEST_F(OrdersTest, ACompactionCountsBeforeItsFilesAreLookedAt) {
  const auto files = std::make_shared<WatchedSizes>();
  const auto env = ROCKSDB_NAMESPACE::NewCompositeEnv(files);
  options_.env = env.get();
  options_.disable_auto_compactions = true;
  Open();
  AddFile(10);
  AddFile(10);
  bool is_counted = false;
  files->on_first_table = [&] {
    const Json snapshot = Call("snapshot", Json::object());
    is_counted = FindTask(snapshot, "compaction", "running").is_object();
  };
  EXPECT_TRUE(Compact().get());
  EXPECT_TRUE(is_counted);
  db_.reset();
}

TEST_F(OrdersTest, AHoldOfOneLevelLeavesOthersAlone) {
  Open();
  AddFile(100);
  AddFile(100);
  Set("compaction", "*/*/L1", kHold);
  Set("compaction", "orders/default/L5", kHold);
  EXPECT_TRUE(Compact().get());
  Set("compaction", "orders/*/L1", kHold);
  auto second = Compact();
  AwaitTask("compaction", "held");
  Clear();
  EXPECT_TRUE(second.get());
  ExpectAllThere();
}

TEST_F(OrdersTest, AStoreThatClosesHoldsNothing) {
  options_.max_write_buffer_number = 6;
  Open();
  AddFile(2000);
  AddFile(2000);
  Set("compaction", "", kHold);
  Set("flush", "orders", kHold);
  Call(
      "start",
      {{"kind", "compaction"}, {"owner", "test"}, {"time_to_live_seconds", 1}});
  AwaitTask("compaction", "held");
  Put(7);
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(db_->Flush(no_wait).ok());
  AwaitTask("flush", "held");
  db_.reset();
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/rocksdb/main.sock"));
  Open();
  EXPECT_FALSE(HasLeases());
  ExpectAllThere();
}

// Its options keep what follows it.
TEST_F(OrdersTest, AStoreThatHasClosedCountsNoMore) {
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  Set("compaction", "", kHold);
  AddFile(2000);
  AddFile(2000);
  AwaitTask("compaction", "held");
  const auto kept = db_->GetOptions();
  db_.reset();
  Open();
  Await([](const Json& snapshot) { return snapshot.at("tasks").empty(); });
  Set("compaction", "", {{"name", "concurrency"}, {"number", 1}});
  AddFile(10);
  AddFile(10);
  Await([this](const Json&) { return FilesAtLevel(0) < 2; });
  EXPECT_TRUE(HasLeases());
  ExpectAllThere();
}

TEST_F(OrdersTest, AStoreClosesWhileAStartedFlushWaitsForPausedWork) {
  Open();
  Put(1);
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  Call("start",
       {{"kind", "flush"}, {"owner", "test"}, {"time_to_live_seconds", 1}});
  Await([this](const Json&) {
    uint64_t memtables = 0;
    db_->GetIntProperty("rocksdb.num-immutable-mem-table", &memtables);
    return memtables > 0;
  });
  db_.reset();
  Open();
  ExpectAllThere();
}

TEST_F(OrdersTest, ARateSlowsACompactionDown) {
  Open();
  AddFile(1000);
  AddFile(1000);
  Set("compaction", "", {{"name", "rate_bytes_per_second"}, {"number", 10000}});
  auto compaction = Compact();
  Await([](const Json& snapshot) {
    const Json task = FindTask(snapshot, "compaction", "running");
    return task.is_object() && task["bytes_done"] > 0;
  });
  EXPECT_EQ(compaction.wait_for(std::chrono::seconds(0)),
            std::future_status::timeout);
  Set("compaction", "", {{"name", "full"}});
  EXPECT_TRUE(compaction.get());
  ExpectAllThere();
}

TEST_F(OrdersTest, PutOffCompactionsWaitAndStallTriggersStay) {
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 100;
  options_.level0_stop_writes_trigger = 120;
  Open();
  Set("compaction", "orders",
      {{"name", "defer_until_debt_bytes"}, {"number", 1e12}});
  for (int i = 0; i < 6; ++i) AddFile(10);
  const Json deferred = AwaitTask("compaction", "deferred");
  EXPECT_EQ(deferred["scope"], "orders/default");
  EXPECT_EQ(FilesAtLevel(0), 6u);
  Clear();
  Await([this](const Json&) { return FilesAtLevel(0) < 2; });
  ExpectAllThere();
}

TEST_F(OrdersTest, OrdersEndBeforeAWriteStallAndAreRefusedNearIt) {
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 10;
  Open();
  Set("compaction", "", {{"name", "defer_until_debt_bytes"}, {"number", 1e12}});
  // One more, and the store itself would put off nothing any longer.
  for (int i = 0; i < 8; ++i) AddFile(10);
  // Leases end first, and are counted then.
  Await([](const Json& snapshot) {
    return snapshot.at("leases").empty() &&
           snapshot.at("figures").value("compaction_order_ends_total", 0) >= 1;
  });
  Await([this](const Json&) { return FilesAtLevel(0) < 2; });
  Await([this](const Json&) {
    return Set("compaction", "", kHold).contains("lease");
  });
  ExpectAllThere();
}

// No column family comes near a stall of its own.
TEST_F(OrdersTest, AHoldEndsWhenTheWriteBufferManagerStopsWrites) {
  options_.write_buffer_manager =
      std::make_shared<ROCKSDB_NAMESPACE::WriteBufferManager>(
          1 << 20, nullptr, /*allow_stall=*/true);
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 1000;
  Open();
  ASSERT_TRUE(Set("flush", "", kHold).contains("lease"));
  for (int i = 0; i < 3000; ++i) Put(i);
  EXPECT_FALSE(HasLeases());
  ExpectAllThere();
}

TEST_F(OrdersTest, AStartedCompactionRunsByItself) {
  Open();
  const Json start = {
      {"kind", "compaction"}, {"owner", "test"}, {"time_to_live_seconds", 1}};
  EXPECT_EQ(Call("start", start)["code"], -32003);
  AddFile(50);
  AddFile(50);
  EXPECT_TRUE(Call("start", start).empty());
  Await([this](const Json&) { return FilesAtLevel(0) == 0; });
  ExpectAllThere();
}

TEST_F(OrdersTest, AStartedFlushRunsByItself) {
  Open();
  Put(1);
  const Json start = {
      {"kind", "flush"}, {"owner", "test"}, {"time_to_live_seconds", 1}};
  EXPECT_TRUE(Call("start", start).empty());
  Await([this](const Json&) { return FilesAtLevel(0) == 1; });
}

TEST_F(OrdersTest, ScopesAreThoseOfOpenDatabasesAndFamilies) {
  Open("remote=false;database_name=shop");
  for (const char* scope :
       {"", "shop", "shop/default", "shop/default/L3", "shop/*/L0", "*/*/L6"}) {
    EXPECT_TRUE(Set("compaction", scope, kHold).contains("lease")) << scope;
  }
  for (const char* scope : {"orders", "shop/other", "shop/other/L1", "shop/*",
                            "*/default/L1", "x/*/L1"}) {
    EXPECT_EQ(Set("compaction", scope, kHold)["code"], -32004) << scope;
  }
  EXPECT_EQ(Set("flush", "shop/default/L0", kHold)["code"], -32004);
}

TEST_F(OrdersTest, WhatTheStoreAsksByFamilyIsNotOrderedByLevel) {
  Open();
  const Json one = {{"name", "concurrency"}, {"number", 1}};
  const Json put_off = {{"name", "defer_until_debt_bytes"}, {"number", 1e9}};
  for (const Json& setting : {one, put_off}) {
    EXPECT_EQ(Set("compaction", "orders/*/L1", setting)["code"], -32003);
    EXPECT_TRUE(Set("compaction", "orders/default", setting).contains("lease"));
  }
}

TEST_F(OrdersTest, RequestsAreTimedByIntervals) {
  Open("remote=false;latency=on");
  Await([this](const Json& shown) {
    Put(1);
    ExpectAllThere();
    bool has_read = false;
    bool has_write = false;
    for (const Json& latency : shown["latencies"]) {
      if (latency["count"] == 0) continue;
      has_read |= latency["class"] == "read";
      has_write |= latency["class"] == "write";
    }
    return has_read && has_write;
  });
}

TEST_F(OrdersTest, ASnapshotOfManyFamiliesIsALineWithDebtsOfBothKinds) {
  Open();
  std::vector<std::string> names;
  for (int i = 0; i < 600; ++i) {
    names.push_back(std::to_string(i) + std::string(1000, 'n'));
  }
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*> families;
  ASSERT_TRUE(
      db_->CreateColumnFamilies(
             ROCKSDB_NAMESPACE::ColumnFamilyOptions(options_), names, &families)
          .ok());
  const auto count = [](const Json& snapshot, const char* kind) {
    const Json& debts = snapshot.at("debts");
    return std::count_if(debts.begin(), debts.end(), [&](const Json& debt) {
      return debt["kind"] == kind && debt["scope"] != "";
    });
  };
  Await([&](const Json& snapshot) {
    return snapshot.contains("debts") && count(snapshot, "flush") > 100 &&
           count(snapshot, "compaction") > 100;
  });
  for (auto* each : families) {
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(each).ok());
  }
}

TEST_F(OrdersTest, WithoutOrdersTheOptionsOfTheStoreStay) {
  options_.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
  Open();
  AddFile(10);
  EXPECT_EQ(options_.statistics->getTickerCount(
                ROCKSDB_NAMESPACE::NUMBER_KEYS_WRITTEN),
            10u);
  EXPECT_FALSE(HasLeases());
}

}  // namespace
}  // namespace sluice
