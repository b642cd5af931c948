// The compaction service as an option of its name.

#include <gtest/gtest.h>

#include "compaction_services.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/options_util.h"
#include "test_database.h"

namespace hooks_test {
namespace {

class OptionString : public testing::Test {
 protected:
  OptionString() { InProcessService::Register(); }

  Status Parse(const std::string& text, bool ignore_unsupported = false) {
    ConfigOptions config;
    config.ignore_unsupported_options = ignore_unsupported;
    return GetDBOptionsFromString(config, DBOptions(), text, &parsed_);
  }

  InProcessService* service() {
    return static_cast<InProcessService*>(parsed_.compaction_service.get());
  }

  DBOptions parsed_;
};

TEST_F(OptionString, MakesTheServiceWithItsSettings) {
  Require(
      Parse("compaction_service={id=in-process;label=near};max_open_files=77"));
  ASSERT_NE(nullptr, service());
  EXPECT_STREQ("in-process", service()->Name());
  EXPECT_EQ("near", service()->label());
  EXPECT_EQ(77, parsed_.max_open_files);
}

TEST_F(OptionString, TakesANameAlone) {
  Require(Parse("compaction_service=in-process"));
  ASSERT_NE(nullptr, service());
  EXPECT_EQ("", service()->label());
}

TEST_F(OptionString, RefusesAServiceThatNobodyMakes) {
  const Status status = Parse("compaction_service={id=nobodys}");
  EXPECT_FALSE(status.ok());
  EXPECT_NE(std::string::npos, status.ToString().find("nobodys"));
}

TEST_F(OptionString, LeavesOutAServiceThatNobodyMakesIfAsked) {
  Require(Parse("compaction_service={id=nobodys};max_open_files=77", true));
  EXPECT_EQ(nullptr, service());
  EXPECT_EQ(77, parsed_.max_open_files);
}

TEST_F(OptionString, RefusesASettingThatTheServiceDoesNotKnow) {
  EXPECT_FALSE(Parse("compaction_service={id=in-process;colour=red}").ok());
}

TEST_F(OptionString, TakesTheServiceAwayAgain) {
  DBOptions with;
  with.compaction_service = std::make_shared<InProcessService>();
  ConfigOptions config;
  Require(GetDBOptionsFromString(config, with, "compaction_service=nullptr",
                                 &parsed_));
  EXPECT_EQ(nullptr, service());
}

TEST_F(OptionString, LetsCompactionsGoToTheService) {
  Require(Parse("compaction_service={id=in-process}"));
  TestDatabase database;
  database.options.compaction_service = parsed_.compaction_service;
  database.Open();
  database.WriteFiles(3);
  Require(database.db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_GE(service()->scheduled(), 1);
  EXPECT_EQ(TestDatabase::kKeysPerFile, database.CountRows());
}

TEST_F(OptionString, IsNotWrittenToOptionsFiles) {
  TestDatabase database;
  database.options.compaction_service = std::make_shared<InProcessService>();
  database.Open();
  EXPECT_EQ(std::string::npos,
            database.OptionsText().find("compaction_service"));

  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  Require(
      LoadLatestOptions(ConfigOptions(), database.path(), &loaded, &families));
  EXPECT_EQ(nullptr, loaded.compaction_service);
}

TEST_F(OptionString, CannotBeChangedInAnOpenDatabase) {
  TestDatabase database;
  database.Open();
  EXPECT_TRUE(database.db->SetDBOptions({{"compaction_service", "in-process"}})
                  .IsNotFound());
}

}  // namespace
}  // namespace hooks_test
