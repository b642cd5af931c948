// Compactions of a store in a pool that go to a real worker. The pool is
// played: tests/rocksdb/pool has real ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "sluice/pool/played_pool.h"
#include "sluice/pool/pool_file_system.h"
#include "sluice/remote/worker_agent.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

using ROCKSDB_NAMESPACE::CompactRangeOptions;

class PooledCompactionsTest : public OpenedStore {
 protected:
  PooledCompactionsTest() : pool_(folder_ + "/pool.sock", folder_ + "/pool") {
    // As the volume has it.
    fs::create_directories(pool_.Local(folder_));
    options_.disable_auto_compactions = true;
    agent_.says_checked = false;
    agent_.on_line = [this](Json* line) { TellOfPool(line); };
  }
  // While the pool is there.
  ~PooledCompactionsTest() override { db_.reset(); }

  void OpenPooled() {
    Open("minimum_input_bytes=1;agent_socket=" + agent_.path() +
         ";pool_volume=orders;pool_socket=" + folder_ + "/pool.sock");
  }
  // As the agents of both nodes do.
  void TellOfPool(Json* line) {
    Json& job = (*line)["job"];
    EXPECT_EQ(job["pool_session"], PlayedPool::kSession);
    EXPECT_EQ(job["database_path"], folder_ + "/orders");
    job.erase("pool_session");
    job["pool"] = {{"volume", "orders"}, {"outer_epoch", 1}};
    (*line)["pool_socket"] = folder_ + "/pool.sock";
    (*line)["checked_output_path"] =
        "/scratch/.sluice-compaction-" + job["id"].get<std::string>();
  }
  void Compact() {
    AddFile(400);
    AddFile(400);
    pool_.TakeAsked();
    const auto status =
        db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectAllThere();
    // A compaction that fails would have stopped writes.
    Put(1);
  }
  uint64_t Figure(const std::string& name) {
    const Json figures = Call("snapshot", Json::object())["figures"];
    return figures.contains(name) ? figures[name].get<uint64_t>() : 0;
  }
  uint64_t CountedBy(const std::string& name) {
    const uint64_t before = Figure(name);
    Compact();
    return Figure(name) - before;
  }
  bool HasOutputFolder() const {
    for (const auto& each :
         fs::directory_iterator(pool_.Local(folder_ + "/orders"))) {
      if (each.path().filename().string().rfind(".sluice", 0) == 0) return true;
    }
    return false;
  }

  PlayedPool pool_;
  WorkerAgent agent_{folder_, SLUICE_COMPACT_PATH};
};

// Where in a list the first is that begins so.
size_t PlaceOfFirst(const std::vector<std::string>& list,
                    const std::string& begin) {
  return std::find_if(list.begin(), list.end(),
                      [&](const std::string& each) {
                        return each.rfind(begin, 0) == 0;
                      }) -
         list.begin();
}

TEST_F(PooledCompactionsTest, AWorkerCompactsUnderALeaseThatIsTakenBack) {
  OpenPooled();
  EXPECT_EQ(CountedBy("remote_compactions_total"), 1u);
  EXPECT_FALSE(HasOutputFolder());
  const auto asked = pool_.TakeAsked();
  const std::string output = folder_ + "/orders/.sluice-compaction-";
  const size_t made = PlaceOfFirst(asked, "make_directory " + output);
  const size_t attached = PlaceOfFirst(asked, "attach " + output);
  const size_t written = PlaceOfFirst(asked, "create " + output);
  const size_t released = PlaceOfFirst(asked, "release " + output);
  const size_t renamed = PlaceOfFirst(asked, "rename " + output);
  const size_t removed = PlaceOfFirst(asked, "remove_directory " + output);
  EXPECT_LT(made, attached);
  EXPECT_LT(attached, written);
  EXPECT_LT(written, released);
  EXPECT_LT(released, renamed);
  EXPECT_LT(renamed, removed);
  EXPECT_LT(removed, asked.size());
  // Nor a log of RocksDB.
  EXPECT_EQ(PlaceOfFirst(asked, "remove " + output), asked.size());
}

TEST_F(PooledCompactionsTest, WhatCannotBeTakenBackIsCompactedHere) {
  OpenPooled();
  pool_.keeps_leases = true;
  EXPECT_EQ(CountedBy("local_compactions_output_path_total"), 1u);
  // It is removed when the store is opened again.
  pool_.keeps_leases = false;
  db_.reset();
  OpenPooled();
  EXPECT_FALSE(HasOutputFolder());
  ExpectAllThere();
}

TEST_F(PooledCompactionsTest, AMissingOutputFileIsNotInstalled) {
  agent_.on_wait = [this](const Json& job, std::string answer) {
    for (const auto& each :
         fs::directory_iterator(pool_.Local(job["output_path"]))) {
      fs::remove(each.path());
    }
    return answer;
  };
  OpenPooled();
  EXPECT_EQ(CountedBy("local_compactions_output_invalid_total"), 1u);
  EXPECT_FALSE(HasOutputFolder());
}

// The store has removed its folder.
TEST_F(PooledCompactionsTest, AWorkerThatComesTooLateSaysSo) {
  agent_.on_line = [this](Json* line) {
    TellOfPool(line);
    fs::remove(pool_.Local((*line)["job"]["output_path"]));
  };
  OpenPooled();
  EXPECT_EQ(CountedBy("local_compactions_path_total"), 1u);
  EXPECT_FALSE(HasOutputFolder());
}

TEST_F(PooledCompactionsTest, AWorkerTakesNoFolderInWhichSomethingIs) {
  agent_.on_line = [this](Json* line) {
    TellOfPool(line);
    const std::string output = (*line)["job"]["output_path"];
    std::ofstream(pool_.Local(output) + "/000001.sst") << "another's";
  };
  OpenPooled();
  EXPECT_EQ(CountedBy("local_compactions_path_total"), 1u);
  EXPECT_FALSE(HasOutputFolder());
}

TEST_F(PooledCompactionsTest, AProgramMayHaveThePoolAsItsFileSystem) {
  PoolOptions pool;
  pool.volume = "orders";
  pool.agent_socket = folder_ + "/pool.sock";
  // As long as the process: the plug-in wraps it once.
  auto* const env =
      ROCKSDB_NAMESPACE::NewCompositeEnv(std::make_shared<PoolFileSystem>(pool))
          .release();
  options_.env = env;
  Open("minimum_input_bytes=1;agent_socket=" + agent_.path());
  EXPECT_EQ(CountedBy("remote_compactions_total"), 1u);
  EXPECT_FALSE(HasOutputFolder());
}

// Of a worker that goes on after its store has given the job up.
TEST_F(PooledCompactionsTest, FoldersOfAnEarlierProcessAreRemoved) {
  OpenPooled();
  db_.reset();
  const std::string left = folder_ + "/orders/.sluice-compaction-old";
  const std::string other = folder_ + "/orders/other";
  fs::create_directory(pool_.Local(left));
  fs::create_directory(pool_.Local(other));
  std::ofstream(pool_.Local(left) + "/000001.sst") << "half";
  pool_.TakeAsked();
  OpenPooled();
  EXPECT_FALSE(fs::exists(pool_.Local(left)));
  EXPECT_TRUE(fs::exists(pool_.Local(other)));
  auto asked = pool_.TakeAsked();
  std::erase_if(asked, [&](const std::string& each) {
    return each.find(left) == std::string::npos;
  });
  EXPECT_EQ(asked, (std::vector<std::string>{"release " + left, "list " + left,
                                             "remove " + left + "/000001.sst",
                                             "remove_directory " + left}));
}

}  // namespace
}  // namespace sluice
