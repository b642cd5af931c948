// Where tables of a worker end: as those of the store, key by key.
#include "sluice/worker/next_level_cuts.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/remote/worker_agent.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::BytewiseComparator;
using ROCKSDB_NAMESPACE::PartitionerRequest;
using ROCKSDB_NAMESPACE::PartitionerResult;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::SstPartitioner;
using ROCKSDB_NAMESPACE::SstPartitionerFactory;
using ROCKSDB_NAMESPACE::SstPartitionerFixedPrefixFactory;

constexpr uint64_t kUnbounded = std::numeric_limits<uint64_t>::max();

// Tables of 1000 bytes, from d to f and from m to p.
NextLevelTables TwoTables() { return {{"d", "f", 1000}, {"m", "p", 1000}}; }

// A table of the output, which has this size, and goes from key to key.
class Output {
 public:
  explicit Output(NextLevelTables tables, TableSizes sizes,
                  std::shared_ptr<SstPartitionerFactory> own = nullptr)
      : partitioner_(
            NextLevelCuts(std::move(own),
                          std::make_shared<NextLevelTables>(std::move(tables)),
                          sizes, BytewiseComparator())
                .CreatePartitioner(SstPartitioner::Context())) {}

  // Whether the table ends before the second key.
  bool Ends(const std::string& from, const std::string& to, uint64_t bytes) {
    const Slice previous(from);
    const Slice current(to);
    return partitioner_->ShouldPartition(PartitionerRequest(
               previous, current, bytes)) == PartitionerResult::kRequired;
  }

 private:
  const std::unique_ptr<SstPartitioner> partitioner_;
};

TEST(NextLevelCutsTest, AFullTableEndsAtABorderAlone) {
  Output output(TwoTables(), {1000, kUnbounded});
  EXPECT_FALSE(output.Ends("a", "b", 900));
  EXPECT_TRUE(output.Ends("b", "d", 900));
  EXPECT_FALSE(output.Ends("d", "f", 900));
  EXPECT_TRUE(output.Ends("f", "g", 900));
}

TEST(NextLevelCutsTest, TheMoreBordersTheFullerATable) {
  Output output(TwoTables(), {1000, kUnbounded});
  EXPECT_FALSE(output.Ends("a", "d", 540));
  EXPECT_FALSE(output.Ends("e", "g", 590));
  EXPECT_TRUE(output.Ends("g", "m", 650));
}

TEST(NextLevelCutsTest, ATableThatRocksdbHasEndedCountsAnew) {
  Output output(TwoTables(), {1000, kUnbounded});
  EXPECT_FALSE(output.Ends("a", "d", 540));
  EXPECT_FALSE(output.Ends("e", "g", 590));
  // It has begun with g.
  EXPECT_FALSE(output.Ends("g", "h", 0));
  EXPECT_TRUE(output.Ends("h", "m", 560));
}

TEST(NextLevelCutsTest, ATableThatIsPassedWholeIsLeftOut) {
  Output output(TwoTables(), {4000, kUnbounded});
  EXPECT_TRUE(output.Ends("a", "g", 1));
  Output small(TwoTables(), {8000, kUnbounded});
  EXPECT_FALSE(small.Ends("a", "g", 1));
}

TEST(NextLevelCutsTest, WhatALaterCompactionReadsIsBounded) {
  Output output(TwoTables(), {4000, 2000});
  EXPECT_FALSE(output.Ends("a", "d", 900));
  EXPECT_TRUE(output.Ends("d", "m", 900));
}

TEST(NextLevelCutsTest, TablesThatShareAKey) {
  Output output({{"d", "f", 1000}, {"f", "p", 1000}}, {1000, kUnbounded});
  // Into the second one, past the end of the first.
  EXPECT_TRUE(output.Ends("e", "f", 900));
  EXPECT_FALSE(output.Ends("f", "g", 900));
}

TEST(NextLevelCutsTest, ThoseOfTheStoreRemain) {
  Output output(TwoTables(), {1000, kUnbounded},
                std::make_shared<SstPartitionerFixedPrefixFactory>(1));
  EXPECT_FALSE(output.Ends("a1", "a2", 1));
  EXPECT_TRUE(output.Ends("a2", "b1", 1));
  EXPECT_TRUE(output.Ends("b1", "d1", 1));
  EXPECT_FALSE(output.Ends("d1", "d2", 900));
}

class NextLevelTest : public OpenedStore {
 protected:
  using Borders = std::vector<std::pair<std::string, std::string>>;

  NextLevelTest() : agent_(folder_, SLUICE_COMPACT_PATH) {
    options_.level0_file_num_compaction_trigger = 2;
    options_.target_file_size_base = 64 << 10;
    options_.max_bytes_for_level_base = 16 << 20;
  }
  // First and last keys of the tables of level 1, once it was compacted.
  Borders CompactedBorders(const std::string& options) {
    Open(options + ";agent_socket=" + agent_.path());
    values_.clear();
    version_ = 0;
    AddFile(1500, 10000);
    ROCKSDB_NAMESPACE::CompactRangeOptions down;
    down.change_level = true;
    down.target_level = 2;
    EXPECT_TRUE(db_->CompactRange(down, nullptr, nullptr).ok());
    AddFile(700, 10100);
    AddFile(700, 10500);
    EXPECT_TRUE(
        db_->WaitForCompact(ROCKSDB_NAMESPACE::WaitForCompactOptions()).ok());
    ExpectAllThere();
    Borders borders;
    std::vector<ROCKSDB_NAMESPACE::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const auto& each : files) {
      if (each.level == 1)
        borders.emplace_back(each.smallestkey, each.largestkey);
    }
    done_ = Call("snapshot", Json::object())["figures"].value(
        "remote_compactions_total", 0);
    db_.reset();
    std::filesystem::remove_all(folder_ + "/orders");
    return borders;
  }

  WorkerAgent agent_;
  int done_ = 0;
};

TEST_F(NextLevelTest, AWorkersTablesAreThoseOfTheStore) {
  const Borders local = CompactedBorders("remote=false");
  EXPECT_GE(local.size(), 8u);
  const int before = done_;
  const Borders remote = CompactedBorders("minimum_input_bytes=1");
  EXPECT_GT(done_, before);
  EXPECT_EQ(remote, local);
}

}  // namespace
}  // namespace sluice
