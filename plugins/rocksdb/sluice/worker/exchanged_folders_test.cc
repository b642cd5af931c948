// Folders of a job for which its store puts links while it is done.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "sluice/remote/worker_agent.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class ExchangedFoldersTest : public OpenedStore {
 protected:
  ExchangedFoldersTest() { fs::create_directory(victim_); }

  // How much the figure grows by a compaction.
  uint64_t CountedBy(const std::string& name) {
    Open("minimum_input_bytes=1;agent_socket=" + agent_->path());
    AddFile(200);
    AddFile(200);
    const auto status = db_->CompactRange(
        ROCKSDB_NAMESPACE::CompactRangeOptions(), nullptr, nullptr);
    EXPECT_TRUE(status.ok()) << status.ToString();
    ExpectAllThere();
    const Json figures = Call("snapshot", Json::object())["figures"];
    return figures.contains(name) ? figures[name].get<uint64_t>() : 0;
  }
  void ExchangeOutput(const Json& job) {
    const auto output = job["output_path"].get<std::string>();
    fs::rename(output, moved_);
    fs::create_symlink(victim_, output);
  }
  void PutBackOutput(const Json& job) {
    const auto output = job["output_path"].get<std::string>();
    if (!fs::is_symlink(output)) return;
    fs::remove(output);
    fs::rename(moved_, output);
  }

  const std::string victim_ = folder_ + "/victim";
  const std::string moved_ = folder_ + "/moved";
  std::atomic<bool> is_exchanged_{false};
  std::unique_ptr<WorkerAgent> agent_ =
      std::make_unique<WorkerAgent>(folder_, SLUICE_COMPACT_PATH);
};

TEST_F(ExchangedFoldersTest, ALinkBeforeTheWorkerOpensItsOutputIsRefused) {
  agent_->on_checked = [this](const Json& job) { ExchangeOutput(job); };
  EXPECT_GE(CountedBy("local_compactions_path_total"), 1u);
  EXPECT_TRUE(fs::is_empty(victim_));
  EXPECT_TRUE(fs::is_empty(moved_));
}

TEST_F(ExchangedFoldersTest, ALinkAfterThatLeadsNowhere) {
  agent_->on_running = [this](const Json& job, ChildProcess* worker) {
    if (is_exchanged_.exchange(true)) return;
    const auto output = job["output_path"].get<std::string>();
    const TimePoint latest = MonotonicClock::Default()->Now() + kPatience;
    while (fs::is_empty(output) && MonotonicClock::Default()->Now() < latest) {
      std::this_thread::yield();
    }
    worker->Signal(SIGSTOP);
    ExchangeOutput(job);
    worker->Signal(SIGCONT);
  };
  agent_->on_wait = [this](const Json& job, std::string answer) {
    PutBackOutput(job);
    return answer;
  };
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
  EXPECT_TRUE(fs::is_empty(victim_));
}

TEST_F(ExchangedFoldersTest, FoldersMayBeReachedByALink) {
  fs::create_directory(folder_ + "/real");
  fs::create_symlink(folder_ + "/real", folder_ + "/orders");
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
}

// Of an agent that is older than the worker.
TEST_F(ExchangedFoldersTest, AnAgentMayNotSayWhatItHasChecked) {
  agent_->says_checked = false;
  EXPECT_GE(CountedBy("remote_compactions_total"), 1u);
}

}  // namespace
}  // namespace sluice
