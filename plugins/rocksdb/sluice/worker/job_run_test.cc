// Workers of a real store, within its process and as a process of their own.
#include "sluice/worker/job_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/utilities/object_registry.h"
#include "sluice/remote/worker_agent.h"
#include "sluice/store/opened_store.h"
#include "sluice/worker/automatic_objects.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompactionFilter;
using ROCKSDB_NAMESPACE::CompactionFilterFactory;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::ObjectLibrary;
using ROCKSDB_NAMESPACE::Slice;

constexpr char kWatched[] = "WatchedFilters";

// What the filters of a worker tell the test; nothing while the store itself
// compacts.
struct Watch {
  std::function<void()> on_key;
  bool drops = false;
  std::vector<bool> manual;
};
Watch* watch = nullptr;

class WatchedFilter : public CompactionFilter {
 public:
  const char* Name() const override { return "WatchedFilter"; }
  Decision FilterV2(int, const Slice&, ValueType, const Slice&, std::string*,
                    std::string*) const override {
    if (watch == nullptr) return Decision::kKeep;
    if (watch->on_key) watch->on_key();
    return watch->drops ? Decision::kRemove : Decision::kKeep;
  }
};

class WatchedFilters : public CompactionFilterFactory {
 public:
  const char* Name() const override { return kWatched; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    if (watch != nullptr) watch->manual.push_back(context.is_manual_compaction);
    return std::make_unique<WatchedFilter>();
  }
};

class JobRunTest : public OpenedStore {
 protected:
  static void SetUpTestSuite() {
    OpenedStore::SetUpTestSuite();
    ObjectLibrary::Default()->AddFactory<CompactionFilterFactory>(
        kWatched,
        [](const std::string&, std::unique_ptr<CompactionFilterFactory>* made,
           std::string*) {
          *made = std::make_unique<WatchedFilters>();
          return made->get();
        });
  }

  JobRunTest()
      : agent_(std::make_unique<WorkerAgent>(folder_, SLUICE_COMPACT_PATH)) {
    options_.compaction_filter_factory = std::make_shared<WatchedFilters>();
    options_.target_file_size_base = 64 << 10;
    agent_->on_run = [this](const Json& job) {
      Run(job);
      return R"({"result":{"placement":"local","reason":"busy"}})";
    };
  }

  void OpenRemote() {
    Open("minimum_input_bytes=1;agent_socket=" + agent_->path());
  }
  void Compact(int count) {
    AddFile(count);
    AddFile(count);
    ASSERT_TRUE(
        db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    ASSERT_TRUE(outcome_.has_value());
  }
  // While the store waits for the answer.
  void Run(const Json& job) {
    const Json line = {{"protocol_version", {{"major", 1}, {"minor", 0}}},
                       {"job", job},
                       {"libraries", Json::array()},
                       {"memory_limit_bytes", 0},
                       {"temporary_limit_bytes", temporary_limit_bytes_}};
    run_ = std::make_unique<JobRun>(
        std::get<WorkerJob>(ReadJobLine(WriteJson(line))));
    watch = &watch_;
    outcome_ = run_->Run();
    watch = nullptr;
  }

  std::unique_ptr<WorkerAgent> agent_;
  Watch watch_;
  uint64_t temporary_limit_bytes_ = 0;
  std::unique_ptr<JobRun> run_;
  std::optional<std::variant<JobResult, JobFailure>> outcome_;
};

// Else its agent would take it for one that hangs.
TEST_F(JobRunTest, AWorkerThatDropsAllGetsOn) {
  options_.disable_auto_compactions = true;
  uint64_t read = 0;
  watch_.drops = true;
  watch_.on_key = [&] { read = run_->bytes_read(); };
  OpenRemote();
  Compact(200);
  EXPECT_GE(read, 200u * 1000);
}

TEST_F(JobRunTest, OneThatWritesTooMuchSaysSo) {
  options_.disable_auto_compactions = true;
  temporary_limit_bytes_ = 1;
  watch_.on_key = [&] { run_->CheckTemporarySpace(); };
  OpenRemote();
  Compact(4000);
  const auto* failure = std::get_if<JobFailure>(&*outcome_);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->reason, "too-large");
}

TEST_F(JobRunTest, FiltersAreToldWhetherACompactionIsAutomatic) {
  options_.level0_file_num_compaction_trigger = 2;
  OpenRemote();
  AddFile(200);
  AddFile(200);
  ASSERT_TRUE(
      db_->WaitForCompact(ROCKSDB_NAMESPACE::WaitForCompactOptions()).ok());
  EXPECT_EQ(watch_.manual, std::vector<bool>{false});
  watch_.manual.clear();
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  Compact(200);
  ASSERT_FALSE(watch_.manual.empty());
  EXPECT_TRUE(watch_.manual.front());
}

class ToldPartitioners : public ROCKSDB_NAMESPACE::SstPartitionerFactory {
 public:
  explicit ToldPartitioners(std::optional<bool>* is_manual)
      : is_manual_(is_manual) {}
  const char* Name() const override { return "ToldPartitioners"; }
  std::unique_ptr<ROCKSDB_NAMESPACE::SstPartitioner> CreatePartitioner(
      const ROCKSDB_NAMESPACE::SstPartitioner::Context& context)
      const override {
    *is_manual_ = context.is_manual_compaction;
    return nullptr;
  }

 private:
  std::optional<bool>* const is_manual_;
};

TEST(AutomaticObjectsTest, PartitionersAreToldSo) {
  std::optional<bool> is_manual;
  const AutomaticPartitioners partitioners(
      std::make_shared<ToldPartitioners>(&is_manual));
  ROCKSDB_NAMESPACE::SstPartitioner::Context context;
  context.is_manual_compaction = true;
  partitioners.CreatePartitioner(context);
  EXPECT_EQ(is_manual, false);
}

// With the least memory that an agent gives.
class LimitedWorker {
 public:
  explicit LimitedWorker(const std::string& folder)
      : path_(folder + "/limited-worker") {
    std::ofstream(path_) << "#!/bin/sh\nulimit -d 65536\nexec "
                         << SLUICE_COMPACT_PATH << "\n";
    std::filesystem::permissions(path_, std::filesystem::perms(0700));
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// In whichever of its threads it was needed.
TEST_F(OpenedStore, AWorkerWithoutMemorySaysSo) {
  LimitedWorker worker(folder_);
  WorkerAgent agent(folder_, worker.path());
  options_.disable_auto_compactions = true;
  Open("minimum_input_bytes=1;agent_socket=" + agent.path());
  const auto starved = [this] {
    const Json figures = Call("snapshot", Json::object())["figures"];
    return figures.value("local_compactions_worker_memory_total", 0);
  };
  const int before = starved();
  const std::string large(40 << 20, 'v');
  for (const char* key : {"key1", "key2"}) {
    ASSERT_TRUE(db_->Put(ROCKSDB_NAMESPACE::WriteOptions(), key, large).ok());
    AddFile(1, 10);
  }
  ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(starved(), before + 1);
  std::string found;
  ASSERT_TRUE(db_->Get(ROCKSDB_NAMESPACE::ReadOptions(), "key1", &found).ok());
  EXPECT_TRUE(found == large);
  db_.reset();
}

TEST_F(OpenedStore, AWorkerHasNoThreadsWithoutWork) {
  LimitedWorker worker(folder_);
  WorkerAgent agent(folder_, worker.path());
  options_.max_background_jobs = 32;
  options_.disable_auto_compactions = true;
  Open("minimum_input_bytes=1;agent_socket=" + agent.path());
  const auto done = [this] {
    const Json figures = Call("snapshot", Json::object())["figures"];
    return figures.value("remote_compactions_total", 0);
  };
  const int before = done();
  AddFile(8000);
  AddFile(8000);
  ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(done(), before + 1);
  ExpectAllThere();
  db_.reset();
}

}  // namespace
}  // namespace sluice
