// Compactions of a real store that go to a real worker, and what goes wrong.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/sst_file_writer.h"
#include "sluice/remote/worker_agent.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

using ROCKSDB_NAMESPACE::CompactRangeOptions;

class RemoteCompactionsTest : public OpenedStore {
 protected:
  RemoteCompactionsTest()
      : agent_(std::make_unique<WorkerAgent>(folder_, SLUICE_COMPACT_PATH)) {}

  void OpenRemote(const std::string& more = "") {
    Open("minimum_input_bytes=1;agent_socket=" + folder_ + "/agent.sock" +
         more);
  }
  void Compact() {
    AddFile(200);
    AddFile(200);
    const auto status =
        db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectAllThere();
    // A compaction that fails would have stopped writes.
    Put(1);
    EXPECT_FALSE(HasOutputFolder());
  }
  bool HasOutputFolder() const {
    for (const auto& each : fs::directory_iterator(folder_ + "/orders")) {
      if (each.path().filename().string().rfind(".sluice", 0) == 0) return true;
    }
    return false;
  }
  uint64_t Figure(const std::string& name) {
    const Json figures = Call("snapshot", Json::object())["figures"];
    return figures.contains(name) ? figures[name].get<uint64_t>() : 0;
  }
  // How much the figure grows by a compaction.
  uint64_t CountedBy(const std::string& name) {
    const uint64_t before = Figure(name);
    Compact();
    return Figure(name) - before;
  }

  std::unique_ptr<WorkerAgent> agent_;
};

TEST_F(RemoteCompactionsTest, AWorkerCompacts) {
  OpenRemote();
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
  EXPECT_EQ(FilesAtLevel(0), 0u);
}

// A table that is no input is replaced, for the worker alone: the store has it
// open already.
TEST_F(RemoteCompactionsTest, AWorkerReadsItsInputsAlone) {
  options_.disable_auto_compactions = true;
  OpenRemote();
  AddFile(200, 1000);
  for (const auto& each : fs::directory_iterator(folder_ + "/orders")) {
    if (each.path().extension() != ".sst") continue;
    const std::string zeros = folder_ + "/zeros";
    std::ofstream(zeros).close();
    fs::resize_file(zeros, fs::file_size(each.path()));
    fs::rename(zeros, each.path());
  }
  AddFile(200, 2000);
  const ROCKSDB_NAMESPACE::Slice begin("key2");
  const ROCKSDB_NAMESPACE::Slice end("key3");
  const auto status = db_->CompactRange(CompactRangeOptions(), &begin, &end);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_GE(Figure("remote_compactions_total"), 1u);
  EXPECT_EQ(FilesAtLevel(0), 1u);
  ExpectAllThere();
}

TEST_F(RemoteCompactionsTest, ASecondOpenOfTheFolderLeavesTheFirstAlone) {
  OpenRemote();
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> second;
  EXPECT_FALSE(
      ROCKSDB_NAMESPACE::DB::Open(db_->GetOptions(), db_->GetName(), &second)
          .ok());
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
}

// The first worker is killed once it has noted its first output file.
class ResumedCompactionsTest : public RemoteCompactionsTest {
 protected:
  ResumedCompactionsTest() {
    options_.disable_auto_compactions = true;
    options_.target_file_size_base = 64 << 10;
    agent_->resumes = true;
    agent_->on_running = [this](const Json& job, ChildProcess* worker) {
      if (!has_killed_ && AwaitProgress(job["output_path"])) {
        has_killed_ = true;
        worker->Signal(SIGKILL);
      }
    };
  }

  // Not for so long that the store would give the agent up.
  static bool AwaitProgress(const std::string& folder) {
    const TimePoint latest =
        MonotonicClock::Default()->Now() + std::chrono::seconds(1);
    while (!HasProgress(folder)) {
      if (MonotonicClock::Default()->Now() > latest) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void CompactLargeFiles() {
    OpenRemote();
    AddFile(8000);
    AddFile(8000);
    ASSERT_TRUE(
        db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_TRUE(has_killed_);
    EXPECT_GE(Figure("remote_compactions_total"), 1u);
    ExpectAllThere();
    EXPECT_FALSE(HasOutputFolder());
  }

  static bool HasProgress(const std::string& folder) {
    std::error_code gone;
    for (const auto& each : fs::directory_iterator(folder, gone)) {
      const std::string name = each.path().filename().string();
      if (name.rfind("COMPACTION_PROGRESS-", 0) == 0 &&
          each.file_size(gone) > 0 && !gone) {
        return true;
      }
      // Where nothing is noted, outputs alone tell how far it is.
      if (name == "000030.sst") return true;
    }
    return false;
  }

  std::atomic<bool> has_killed_{false};
};

TEST_F(ResumedCompactionsTest, AJobWhoseWorkerIsLostGoesOn) {
  CompactLargeFiles();
  EXPECT_GE(agent_->resumed_bytes(), 32u << 10);
}

// What the first worker has left is not taken for the second one's.
TEST_F(ResumedCompactionsTest, AJobThatVerifiesItsOutputBeginsAnew) {
  options_.paranoid_file_checks = true;
  CompactLargeFiles();
  EXPECT_EQ(agent_->resumed_bytes(), 0u);
}

TEST_F(RemoteCompactionsTest, WithoutAnAgentItIsLocal) {
  agent_.reset();
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_no_agent_total"), 1u);
}

TEST_F(RemoteCompactionsTest, SmallAndHighOnesStayLocal) {
  OpenRemote(";minimum_level=1");
  EXPECT_GE(CountedBy("local_compactions_level_total"), 1u);
  db_.reset();
  Open("agent_socket=" + folder_ + "/agent.sock");
  EXPECT_GE(CountedBy("local_compactions_too_small_total"), 1u);
  EXPECT_EQ(agent_->jobs(), 0);
}

TEST_F(RemoteCompactionsTest, ABusyAgentIsCounted) {
  agent_->on_run = [](const Json&) {
    return R"({"result":{"placement":"local","reason":"busy"}})";
  };
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_busy_total"), 1u);
}

TEST_F(RemoteCompactionsTest, AnAgentThatLeavesIsSurvived) {
  agent_->leaves = true;
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_agent_silent_total"), 1u);
}

TEST_F(RemoteCompactionsTest, AnAnswerThatIsNoneIsSurvived) {
  agent_->on_run = [](const Json&) { return "{}"; };
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_agent_error_total"), 1u);
}

TEST_F(RemoteCompactionsTest, AMissingOrShortOutputFileIsNotInstalled) {
  OpenRemote();
  for (const bool is_removed : {true, false}) {
    agent_->on_wait = [&](const Json& job, std::string answer) {
      for (const auto& each :
           fs::directory_iterator(job["output_path"].get<std::string>())) {
        if (each.path().extension() != ".sst") continue;
        if (is_removed) {
          fs::remove(each.path());
        } else {
          fs::resize_file(each.path(), 100);
        }
      }
      return answer;
    };
    EXPECT_GE(CountedBy("local_compactions_output_invalid_total"), 1u);
  }
}

TEST_F(RemoteCompactionsTest, AResultThatIsNoneIsNotInstalled) {
  agent_->on_wait = [](const Json&, std::string) {
    return R"({"result":{"state":"done","result":"AAAA"}})";
  };
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_output_invalid_total"), 1u);
}

class UnregisteredOperator
    : public ROCKSDB_NAMESPACE::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "UnregisteredOperator"; }
  bool Merge(const ROCKSDB_NAMESPACE::Slice&,
             const ROCKSDB_NAMESPACE::Slice* old,
             const ROCKSDB_NAMESPACE::Slice& value, std::string* merged,
             ROCKSDB_NAMESPACE::Logger*) const override {
    *merged = (old ? old->ToString() : "") + value.ToString();
    return true;
  }
};

TEST_F(RemoteCompactionsTest, WhatAWorkerCannotMakeStaysLocal) {
  options_.merge_operator = std::make_shared<UnregisteredOperator>();
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_object_total"), 1u);
}

TEST_F(RemoteCompactionsTest, AStoreThatClosesWaitsForNoWorker) {
  std::atomic<bool> has_begun{false};
  agent_->on_run = [&](const Json&) {
    has_begun = true;
    return R"({"result":{"placement":"remote"}})";
  };
  agent_->on_wait = nullptr;
  options_.level0_file_num_compaction_trigger = 2;
  OpenRemote();
  AddFile(10);
  AddFile(10);
  while (!has_begun) std::this_thread::yield();
  db_.reset();
  EXPECT_FALSE(HasOutputFolder());
  agent_->on_run = nullptr;
  OpenRemote();
  ExpectAllThere();
}

TEST_F(RemoteCompactionsTest, FoldersOfAnEarlierProcessAreRemoved) {
  OpenRemote();
  db_.reset();
  const std::string left = folder_ + "/orders/.sluice-compaction-old";
  fs::create_directory(left);
  fs::create_directory(folder_ + "/orders/other");
  OpenRemote();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(folder_ + "/orders/other"));
}

TEST_F(RemoteCompactionsTest, RemovalsThatWereCutShortAreCompleted) {
  OpenRemote();
  db_.reset();
  const std::string left = folder_ + "/orders/.sluice-compaction-old.gone";
  fs::create_directory(left);
  OpenRemote();
  EXPECT_FALSE(fs::exists(left));
}

// What it covers as a whole RocksDB does not read, and it counts what is read.
TEST_F(RemoteCompactionsTest, ATableThatOnlyDeletesARangeStaysLocal) {
  options_.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleUniversal;
  OpenRemote();
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
  // What came since then, too: all is below the table.
  ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ROCKSDB_NAMESPACE::SstFileWriter writer(ROCKSDB_NAMESPACE::EnvOptions(),
                                          options_);
  const std::string deletion = folder_ + "/deletion.sst";
  ASSERT_TRUE(writer.Open(deletion).ok());
  ASSERT_TRUE(writer.DeleteRange("key", "kez").ok());
  ASSERT_TRUE(writer.Finish().ok());
  // Its compaction comes by itself.
  ASSERT_TRUE(db_->IngestExternalFile(
                     {deletion}, ROCKSDB_NAMESPACE::IngestExternalFileOptions())
                  .ok());
  const auto compacted =
      db_->WaitForCompact(ROCKSDB_NAMESPACE::WaitForCompactOptions());
  ASSERT_TRUE(compacted.ok()) << compacted.ToString();
  EXPECT_EQ(Figure("local_compactions_range_deletion_total"), 1u);
  values_.clear();
  Put(1);
  ExpectAllThere();
}

// It changes nothing, which the plug-in cannot know.
class OwnFileSystem : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  OwnFileSystem() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "OwnFileSystem"; }
};

TEST_F(RemoteCompactionsTest, FilesOfAnotherFileSystemAreOfferedIfPlain) {
  // As long as the process: the plug-in wraps it once.
  static auto* const env =
      ROCKSDB_NAMESPACE::NewCompositeEnv(std::make_shared<OwnFileSystem>())
          .release();
  options_.env = env;
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_file_system_total"), 1u);
  EXPECT_EQ(agent_->jobs(), 0);
  db_.reset();
  OpenRemote(";plain_files=true");
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
}

// No OPTIONS file says where they are.
TEST_F(RemoteCompactionsTest, TablesElsewhereStayLocal) {
  options_.cf_paths.emplace_back(folder_ + "/cold", 1 << 30);
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_table_folders_total"), 1u);
  EXPECT_EQ(agent_->jobs(), 0);
}

// A worker cannot make the folder of the store's log, and must not rename it.
TEST_F(RemoteCompactionsTest, AWorkerLeavesTheLogOfTheStoreAlone) {
  options_.db_log_dir = folder_ + "/log";
  OpenRemote();
  const auto count = [this] {
    return std::distance(fs::directory_iterator(options_.db_log_dir),
                         fs::directory_iterator());
  };
  const auto before = count();
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
  EXPECT_EQ(count(), before);
}

TEST_F(RemoteCompactionsTest, FilesOfAWorkerCanBeLinkedByTheStore) {
  OpenRemote();
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
  std::vector<ROCKSDB_NAMESPACE::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  for (const auto& file : files) {
    if (file.level == 0) continue;
    const auto status = fs::status(file.db_path + file.name);
    EXPECT_EQ(status.permissions(), fs::perms(0660)) << file.name;
  }
}

// The second one is not offered: it would wait for its answer as well.
TEST_F(RemoteCompactionsTest, ASilentAgentIsAskedOnce) {
  agent_->on_run = [](const Json&) {
    return R"({"result":{"placement":"remote"}})";
  };
  OpenRemote();
  EXPECT_GE(CountedBy("local_compactions_agent_silent_total"), 1u);
  const int asked = agent_->jobs();
  EXPECT_GE(CountedBy("local_compactions_agent_silent_total"), 1u);
  EXPECT_EQ(agent_->jobs(), asked);
}

}  // namespace
}  // namespace sluice
