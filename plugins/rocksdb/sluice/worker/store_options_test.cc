// Which options of a store a worker makes.
#include "sluice/worker/store_options.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/table.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

class UnregisteredOperator
    : public ROCKSDB_NAMESPACE::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "UnregisteredOperator"; }
  bool Merge(const Slice&, const Slice*, const Slice&, std::string*,
             ROCKSDB_NAMESPACE::Logger*) const override {
    return false;
  }
};

class StoreOptionsTest : public OpenedStore {
 protected:
  void AddFamily(const std::string& name, const ColumnFamilyOptions& options) {
    ColumnFamilyHandle* made = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamily(options, name, &made).ok());
    families_.emplace_back(made);
  }
  Status Load(const std::string& family) {
    CompactionInput input;
    input.family = family;
    for (const auto& each :
         std::filesystem::directory_iterator(folder_ + "/orders")) {
      const std::string name = each.path().filename().string();
      if (name.rfind("OPTIONS-", 0) != 0) continue;
      input.options_file_number = std::max<uint64_t>(
          input.options_file_number, std::stoull(name.substr(8)));
    }
    return LoadStoreOptions(ROCKSDB_NAMESPACE::Env::Default(),
                            folder_ + "/orders", input, &loaded_);
  }
  void TearDown() override { families_.clear(); }

  StoreOptions loaded_;
  std::vector<std::unique_ptr<ColumnFamilyHandle>> families_;
};

TEST_F(StoreOptionsTest, WhatCannotBeMadeIsAnErrorOfItsFamilyAlone) {
  Open();
  ColumnFamilyOptions with_operator;
  with_operator.merge_operator = std::make_shared<UnregisteredOperator>();
  AddFamily("counters", with_operator);
  ColumnFamilyOptions with_target;
  with_target.target_file_size_base = 12345;
  AddFamily("others", with_target);
  EXPECT_FALSE(Load("counters").ok());
  ASSERT_TRUE(Load("others").ok());
  EXPECT_EQ(loaded_.family.target_file_size_base, 12345u);
  EXPECT_TRUE(Load("default").ok());
}

TEST_F(StoreOptionsTest, OfTheDefaultFamilyNothingNeedBeMade) {
  options_.merge_operator = std::make_shared<UnregisteredOperator>();
  Open();
  AddFamily("others", ColumnFamilyOptions());
  EXPECT_FALSE(Load("default").ok());
  EXPECT_TRUE(Load("others").ok());
}

// Quotes, a section, what ends a line and what begins a comment.
TEST_F(StoreOptionsTest, AFamilyMayHaveAnyName) {
  Open();
  const std::string odd = "a\"] [CFOptions \"default\"]\n#\\;";
  ColumnFamilyOptions with_filter;
  BlockBasedTableOptions table;
  table.filter_policy.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(7));
  with_filter.table_factory.reset(NewBlockBasedTableFactory(table));
  AddFamily(odd, with_filter);
  AddFamily("others", ColumnFamilyOptions());
  ASSERT_TRUE(Load(odd).ok());
  const auto* made =
      loaded_.family.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(made, nullptr);
  EXPECT_NE(made->filter_policy, nullptr);
  ASSERT_TRUE(Load("others").ok());
  made = loaded_.family.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->filter_policy, nullptr);
}

TEST_F(StoreOptionsTest, AFamilyThatIsNotThereIsAnError) {
  Open();
  EXPECT_TRUE(Load("others").IsInvalidArgument());
}

TEST_F(StoreOptionsTest, AFileThatIsNotThereIsNoWantOfAnObject) {
  Open();
  CompactionInput input;
  input.family = "default";
  const Status status = LoadStoreOptions(ROCKSDB_NAMESPACE::Env::Default(),
                                         folder_ + "/orders", input, &loaded_);
  EXPECT_TRUE(status.IsIOError() || status.IsPathNotFound());
}

TEST_F(StoreOptionsTest, TheManifestOfAStoreWithWorkersIsBounded) {
  Open("remote=true");
  EXPECT_EQ(db_->GetDBOptions().max_manifest_file_size, 1u << 20);
}

TEST_F(StoreOptionsTest, AStricterBoundOfTheManifestStays) {
  options_.max_manifest_file_size = 5000;
  Open("remote=true");
  EXPECT_EQ(db_->GetDBOptions().max_manifest_file_size, 5000u);
}

TEST_F(StoreOptionsTest, TheManifestOfAStoreWithoutWorkersIsItsOwn) {
  Open("remote=false");
  EXPECT_EQ(db_->GetDBOptions().max_manifest_file_size,
            ROCKSDB_NAMESPACE::DBOptions().max_manifest_file_size);
}

}  // namespace
}  // namespace sluice
