// What a compaction service with hooks can do and what it is told.

#include <gtest/gtest.h>

#include "hooked_service.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/utilities/transaction_db.h"
#include "test_database.h"

namespace hooks_test {
namespace {

class KeepsAll : public CompactionFilter {
 public:
  const char* Name() const override { return "KeepsAll"; }
  Decision FilterV2(int, const Slice&, ValueType, const Slice&, std::string*,
                    std::string*) const override {
    return Decision::kKeep;
  }
};

class Hooks : public testing::Test {
 protected:
  Hooks() {
    service_->listener = listener_;
    database_.options.compaction_service = service_;
    // Stalls are far away unless a test brings them near.
    database_.options.level0_file_num_compaction_trigger = 4;
    database_.options.level0_slowdown_writes_trigger = 100;
    database_.options.level0_stop_writes_trigger = 200;
  }

  ~Hooks() override { database_.Close(); }

  // Puts off the default family, whose files are then enough to compact.
  void OpenDeferred() {
    service_->Defer(0);
    database_.OpenWithFamily("other");
    database_.WriteFiles(database_.options.level0_file_num_compaction_trigger);
    ASSERT_TRUE(service_->seen.Await("refused", 3));
  }

  void CompactAll() {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    Require(database_.db->CompactRange(all, nullptr, nullptr));
  }

  std::shared_ptr<HookedService> service_ = std::make_shared<HookedService>();
  std::shared_ptr<RecordingListener> listener_ =
      std::make_shared<RecordingListener>();
  TestDatabase database_;
};

TEST_F(Hooks, PrepareOptionsAndAreTold) {
  database_.Open();
  EXPECT_EQ(1, service_->seen.Of("prepare"));
  EXPECT_EQ(1, service_->seen.Of("opened"));
  EXPECT_EQ(database_.db.get(), service_->opened);
  database_.WriteFiles(1);
  EXPECT_EQ(1, listener_->seen.Of("flush"));
}

TEST_F(Hooks, AreNotToldOfADatabaseThatDoesNotOpen) {
  database_.options.create_if_missing = false;
  EXPECT_FALSE(database_.TryOpen().ok());
  EXPECT_EQ(1, service_->seen.Of("prepare"));
  EXPECT_EQ(0, service_->seen.Of("opened"));
}

TEST_F(Hooks, PutOffTheCompactionsOfOneFamily) {
  OpenDeferred();
  database_.WriteFiles(4, database_.handles[1]);
  ASSERT_TRUE(listener_->seen.Await("compaction of other", 1));
  EXPECT_EQ(4u, database_.FilesAtLevel0(database_.handles[0]));
  EXPECT_EQ(0, listener_->seen.Of("compaction of default"));
}

TEST_F(Hooks, LetPutOffCompactionsRunOnceTheyAreReleased) {
  OpenDeferred();
  service_->Release();
  ASSERT_TRUE(listener_->seen.Await("compaction of default", 1));
  EXPECT_EQ(0u, database_.FilesAtLevel0(database_.handles[0]));
  EXPECT_EQ(TestDatabase::kKeysPerFile, database_.CountRows());
}

TEST_F(Hooks, PutNothingOffThatAFlushWaitsFor) {
  database_.options.level0_slowdown_writes_trigger = 6;
  OpenDeferred();
  ASSERT_EQ(0, listener_->seen.Of("compaction of default"));
  database_.WriteFiles(2);
  EXPECT_TRUE(listener_->seen.Await("compaction of default", 1));
}

TEST_F(Hooks, PutNothingOffWhileWritesAreSlowedDown) {
  database_.options.soft_pending_compaction_bytes_limit = 1;
  service_->Defer(0);
  database_.Open();
  database_.WriteFiles(4);
  EXPECT_TRUE(listener_->seen.Await("compaction of default", 1));
}

TEST_F(Hooks, PutOffNoCompactionThatIsAskedFor) {
  OpenDeferred();
  CompactAll();
  EXPECT_EQ(0u, database_.FilesAtLevel0(database_.handles[0]));
}

TEST_F(Hooks, DoNotKeepADatabaseFromClosing) {
  OpenDeferred();
  database_.Close();
  EXPECT_GE(service_->seen.Of("shutdown"), 1);
  EXPECT_EQ(0, listener_->seen.Of("compaction of default"));
}

TEST_F(Hooks, AreToldOfACloseBeforeItFlushes) {
  auto waiting = std::make_shared<RecordingListener>(&service_->seen);
  service_->listener = waiting;
  database_.Open();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  Require(database_.db->Put(unlogged, "key 1000", "value of key 1000"));
  database_.Close();
  EXPECT_EQ(1, waiting->seen.Of("flush"));
}

TEST_F(Hooks, LearnOfCompactionsThatStayLocalForBlobFiles) {
  database_.options.enable_blob_files = true;
  database_.Open();
  database_.WriteFiles(2);
  CompactAll();
  EXPECT_GE(service_->seen.Of("blob-files"), 1);
  EXPECT_EQ(0, service_->seen.Of("schedule"));
}

TEST_F(Hooks, LearnOfCompactionsThatStayLocalForAFilterOfTheProgram) {
  const KeepsAll filter;
  database_.options.compaction_filter = &filter;
  database_.Open();
  database_.WriteFiles(2);
  CompactAll();
  EXPECT_GE(service_->seen.Of("raw-filter"), 1);
  EXPECT_EQ(0, service_->seen.Of("schedule"));
  database_.Close();
}

TEST_F(Hooks, LearnOfCompactionsThatStayLocalForASnapshotChecker) {
  TransactionDBOptions prepared;
  prepared.write_policy = TxnDBWritePolicy::WRITE_PREPARED;
  TransactionDB* opened = nullptr;
  Require(TransactionDB::Open(database_.options, prepared, database_.path(),
                              &opened));
  database_.db.reset(opened);
  database_.WriteFiles(2);
  CompactAll();
  EXPECT_GE(service_->seen.Of("snapshot-checker"), 1);
  EXPECT_EQ(0, service_->seen.Of("schedule"));
}

TEST_F(Hooks, AreAskedForOtherCompactions) {
  database_.Open();
  database_.WriteFiles(2);
  CompactAll();
  EXPECT_GE(service_->seen.Of("schedule"), 1);
}

TEST(WithoutHooks, AServiceIsAskedAsBefore) {
  TestDatabase database;
  auto service = std::make_shared<InProcessService>();
  EXPECT_EQ(nullptr, BackgroundHooks::Of(service));
  EXPECT_EQ(nullptr, BackgroundHooks::Of(nullptr));
  const KeepsAll filter;
  database.options.compaction_filter = &filter;
  database.options.compaction_service = service;
  database.Open();
  database.WriteFiles(4);
  Require(database.db->WaitForCompact(WaitForCompactOptions()));
  EXPECT_GE(service->scheduled(), 1);
  database.Close();
}

}  // namespace
}  // namespace hooks_test
