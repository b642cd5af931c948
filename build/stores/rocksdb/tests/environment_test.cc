// ROCKSDB_DB_OPTIONS_OVERRIDE: what it changes, and what it never does.

#include <gtest/gtest.h>

#include "compaction_services.h"
#include "rocksdb/cache.h"
#include "rocksdb/listener.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/statistics.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/write_buffer_manager.h"
#include "test_database.h"

namespace hooks_test {
namespace {

constexpr const char* kVariable = "ROCKSDB_DB_OPTIONS_OVERRIDE";

class Environment : public testing::Test {
 protected:
  Environment() { InProcessService::Register(); }
  ~Environment() override { unsetenv(kVariable); }

  static void Set(const std::string& overrides) {
    setenv(kVariable, overrides.c_str(), 1);
  }

  // The database opens as if there were no variable, and its log says why.
  void ExpectIgnored(const std::string& overrides, const std::string& reason) {
    Set(overrides);
    const int jobs = database_.options.max_background_jobs;
    database_.Open();
    EXPECT_EQ(jobs, database_.db->GetDBOptions().max_background_jobs);
    EXPECT_EQ(nullptr, database_.db->GetDBOptions().compaction_service);
    const std::string log = database_.InfoLog();
    const size_t line =
        log.find(std::string(kVariable) + " (ignored unless OK): ");
    ASSERT_NE(std::string::npos, line);
    const std::string told = log.substr(line, log.find('\n', line) - line);
    EXPECT_NE(std::string::npos, told.find(reason)) << told;
    database_.WriteFiles(1);
    EXPECT_EQ(TestDatabase::kKeysPerFile, database_.CountRows());
  }

  TestDatabase database_;
};

TEST_F(Environment, ChangesOptionsOfADatabaseThatIsOpened) {
  Set("max_background_jobs=7;compaction_service={id=in-process;label=far}");
  database_.Open();
  const DBOptions used = database_.db->GetDBOptions();
  EXPECT_EQ(7, used.max_background_jobs);
  ASSERT_NE(nullptr, used.compaction_service);
  const auto* service =
      static_cast<InProcessService*>(used.compaction_service.get());
  EXPECT_EQ("far", service->label());
  EXPECT_NE(std::string::npos,
            database_.InfoLog().find(std::string(kVariable) +
                                     " (ignored unless OK): OK"));
}

TEST_F(Environment, GivesEachDatabaseAServiceOfItsOwn) {
  Set("compaction_service=in-process");
  database_.Open();
  TestDatabase other;
  other.Open();
  EXPECT_NE(database_.db->GetDBOptions().compaction_service,
            other.db->GetDBOptions().compaction_service);
}

TEST_F(Environment, LeavesTheProgramsOptionsAlone) {
  Set("max_background_jobs=7");
  database_.options.max_background_jobs = 3;
  database_.options.max_open_files = 77;
  database_.Open();
  EXPECT_EQ(3, database_.options.max_background_jobs);
  EXPECT_EQ(77, database_.db->GetDBOptions().max_open_files);
}

TEST_F(Environment, KeepsTheProgramsObjects) {
  Set("max_background_jobs=7");
  Options& given = database_.options;
  given.statistics = CreateDBStatistics();
  given.rate_limiter.reset(NewGenericRateLimiter(1 << 20));
  given.write_buffer_manager = std::make_shared<WriteBufferManager>(1 << 20);
  given.row_cache = NewLRUCache(1 << 20);
  given.listeners.push_back(std::make_shared<EventListener>());
  database_.Open();
  const DBOptions used = database_.db->GetDBOptions();
  EXPECT_EQ(7, used.max_background_jobs);
  EXPECT_EQ(given.statistics, used.statistics);
  EXPECT_EQ(given.rate_limiter, used.rate_limiter);
  EXPECT_EQ(given.write_buffer_manager, used.write_buffer_manager);
  EXPECT_EQ(given.row_cache, used.row_cache);
  EXPECT_EQ(given.listeners, used.listeners);
}

TEST_F(Environment, WithoutTheVariableNothingIsSaid) {
  database_.Open();
  EXPECT_EQ(std::string::npos, database_.InfoLog().find(kVariable));
}

TEST_F(Environment, IsIgnoredAsAWholeIfAnOptionIsNotKnown) {
  ExpectIgnored("max_background_jobs=7;colour=red", "colour");
}

TEST_F(Environment, IsIgnoredIfAValueIsNoNumber) {
  ExpectIgnored("max_background_jobs=many", "Invalid argument");
}

TEST_F(Environment, IsIgnoredIfItIsNoOptionString) {
  ExpectIgnored("{{{", "Invalid argument");
}

TEST_F(Environment, IsIgnoredIfNobodyMakesTheService) {
  ExpectIgnored("max_background_jobs=7;compaction_service=nobodys", "nobodys");
}

TEST_F(Environment, IsIgnoredIfOptionsAreNotValidTogether) {
  ExpectIgnored(
      "max_background_jobs=7;allow_mmap_reads=true;use_direct_reads=true",
      "Not implemented");
}

TEST_F(Environment, IsIgnoredByDatabasesThatAreOpenedToReadAlone) {
  database_.Open();
  database_.WriteFiles(1);
  database_.Close();
  const int created = InProcessService::created;
  Set("max_background_jobs=7;compaction_service=in-process");

  std::unique_ptr<DB> reader;
  Require(DB::OpenForReadOnly(database_.options, database_.path(), &reader));
  EXPECT_NE(7, reader->GetDBOptions().max_background_jobs);
  std::unique_ptr<DB> secondary;
  const std::string own = database_.path() + "/secondary";
  Require(DB::OpenAsSecondary(database_.options, database_.path(), own,
                              &secondary));
  EXPECT_NE(7, secondary->GetDBOptions().max_background_jobs);
  EXPECT_EQ(created, InProcessService::created);
}

TEST_F(Environment, IsIgnoredByWorkers) {
  Set("compaction_service=in-process");
  database_.Open();
  const int created = InProcessService::created;
  database_.WriteFiles(3);
  Require(database_.db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  const auto service = database_.db->GetDBOptions().compaction_service;
  EXPECT_GE(static_cast<InProcessService*>(service.get())->scheduled(), 1);
  EXPECT_EQ(created, InProcessService::created);
}

TEST_F(Environment, IsIgnoredWhenADatabaseIsRemoved) {
  database_.Open();
  database_.Close();
  const int created = InProcessService::created;
  Set("compaction_service=in-process");
  Require(DestroyDB(database_.path(), database_.options));
  EXPECT_EQ(created, InProcessService::created);
}

TEST_F(Environment, ChangesOptionsOfADatabaseWithTransactions) {
  Set("max_background_jobs=7");
  TransactionDB* opened = nullptr;
  Require(TransactionDB::Open(database_.options, TransactionDBOptions(),
                              database_.path(), &opened));
  database_.db.reset(opened);
  EXPECT_EQ(7, database_.db->GetDBOptions().max_background_jobs);
}

TEST_F(Environment, CanTurnOnWhatNeedsAFamilyOfItsOwn) {
  Set("persist_stats_to_disk=true;stats_persist_period_sec=1");
  database_.Open();
  database_.WriteFiles(1);
  database_.Open();
  unsetenv(kVariable);
  database_.Open();
  EXPECT_EQ(TestDatabase::kKeysPerFile, database_.CountRows());
}

}  // namespace
}  // namespace hooks_test
