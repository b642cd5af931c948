#include "sluice/worker/job_run.h"

#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "sluice/remote/compaction_payload.h"
#include "sluice/worker/automatic_objects.h"
#include "sluice/worker/input_tables.h"
#include "sluice/worker/late_tables.h"
#include "sluice/worker/next_level_cuts.h"
#include "sluice/worker/store_options.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::CompactionServiceOptionsOverride;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::OpenAndCompactOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::VerifyOutputFlags;

constexpr double kSecondsPerMicrosecond = 1e-6;

// OpenAndCompact takes objects from the override alone, also where it has
// none: without this copy a merge operator of the store would be lost.
void CopyObjects(const StoreOptions& store,
                 CompactionServiceOptionsOverride* to) {
  const ColumnFamilyOptions& family = store.family;
  to->file_checksum_gen_factory = store.database.file_checksum_gen_factory;
  to->comparator = family.comparator;
  to->merge_operator = family.merge_operator;
  to->compaction_filter = family.compaction_filter;
  to->compaction_filter_factory = family.compaction_filter_factory;
  to->prefix_extractor = family.prefix_extractor;
  to->table_factory = family.table_factory;
  to->sst_partitioner_factory = family.sst_partitioner_factory;
  to->table_properties_collector_factories =
      family.table_properties_collector_factories;
}

void TellOfAutomatic(CompactionServiceOptionsOverride* made) {
  if (made->compaction_filter_factory) {
    made->compaction_filter_factory =
        std::make_shared<AutomaticFilters>(made->compaction_filter_factory);
  }
  if (made->sst_partitioner_factory) {
    made->sst_partitioner_factory =
        std::make_shared<AutomaticPartitioners>(made->sst_partitioner_factory);
  }
}

std::set<uint64_t> NumbersOf(const CompactionInput& input) {
  std::set<uint64_t> numbers;
  for (const std::string& file : input.files) {
    // Names are NUMBER.sst.
    numbers.insert(std::strtoull(file.c_str(), nullptr, 10));
  }
  return numbers;
}

// A store with thousands of tables must not cost more to open than to compact:
// tables that are no input of the job are not looked into.
void OpenCheaply(const CompactionInput& input, const std::string& output_path,
                 CompactionServiceOptionsOverride* options) {
  options->table_factory = std::make_shared<InputTables>(
      options->table_factory, NumbersOf(input), output_path);
  options->options_map = {{"verify_sst_unique_id_in_manifest", "false"},
                          {"skip_stats_update_on_db_open", "true"},
                          {"track_and_verify_wals_in_manifest", "false"}};
  // Threads that have nothing to do, or little, and whose stacks count as
  // memory of the job.
  options->options_map.insert({{"max_background_jobs", "1"},
                               {"max_background_compactions", "-1"},
                               {"max_background_flushes", "-1"},
                               {"max_file_opening_threads", "2"}});
  // The store's own log may be there, or no such folder on this node.
  options->options_map["db_log_dir"] = "";
}

// RocksDB bounds tables by twice their target where there is a next level.
void CutAtNextLevel(const NextLevelTables& tables,
                    const ColumnFamilyOptions& family,
                    CompactionServiceOptionsOverride* made) {
  constexpr uint64_t kMostBytes = 1ull << 62;
  TableSizes sizes;
  sizes.target = family.target_file_size_base;
  if (tables.empty() || sizes.target > kMostBytes) return;
  // Its own default.
  constexpr uint64_t kTablesCompacted = 25;
  sizes.most_compacted = family.max_compaction_bytes > 0
                             ? family.max_compaction_bytes
                             : sizes.target * kTablesCompacted;
  made->sst_partitioner_factory = std::make_shared<NextLevelCuts>(
      made->sst_partitioner_factory,
      std::make_shared<const NextLevelTables>(tables), sizes,
      family.comparator);
  made->options_map["target_file_size_base"] = std::to_string(sizes.target * 2);
  made->options_map["max_compaction_bytes"] =
      std::to_string(sizes.most_compacted);
}

// With hashes of outputs to verify RocksDB starts anew without a word, and
// without removing what is there: they ended with the worker. Of tables that
// are not block-based it knows the format by the name of their factory, which
// is not that of InputTables.
bool CanResume(const ColumnFamilyOptions& family) {
  return family.table_factory->IsInstanceOf(
             ROCKSDB_NAMESPACE::TableFactory::kBlockBasedTableName()) &&
         !family.paranoid_file_checks &&
         !(family.verify_output_flags & VerifyOutputFlags::kVerifyIteration);
}

// What the store says that it has, and what was made here.
std::string WhatIsMissing(const WorkerJob& job,
                          const CompactionServiceOptionsOverride& made) {
  for (const auto& [kind, name] : job.objects) {
    const bool is_missing =
        (kind == "comparator" && name != made.comparator->Name()) ||
        (kind == "merge-operator" && !made.merge_operator) ||
        (kind == "compaction-filter-factory" &&
         !made.compaction_filter_factory) ||
        (kind == "prefix-extractor" && !made.prefix_extractor) ||
        (kind == "sst-partitioner-factory" && !made.sst_partitioner_factory) ||
        (kind == "table-properties-collector-factory" &&
         made.table_properties_collector_factories.empty());
    if (is_missing) return kind + " " + name;
  }
  return "";
}

double CpuSeconds() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * kSecondsPerMicrosecond;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Exchange(const std::string& from, const std::string& to,
              std::string* text) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos;
       at += to.size()) {
    text->replace(at, from.size(), to);
  }
}

}  // namespace

JobRun::JobRun(WorkerJob job)
    : job_(std::move(job)),
      place_(PlaceOf(job_)),
      statistics_(std::make_shared<JobStatistics>()) {}

std::variant<JobResult, JobFailure> JobRun::Run() {
  std::string unopened = place_->Open();
  if (!unopened.empty()) return JobFailure{"path", std::move(unopened)};
  if (!place_->HasOutputFolder(job_.is_resumable)) {
    return JobFailure{"path", "the output path is no empty folder"};
  }
  auto outcome = Compact();
  const auto* failure = std::get_if<JobFailure>(&outcome);
  // A cancelled one leaves it to the agent, which gives it no time.
  if (failure != nullptr && failure->reason != "cancelled") {
    place_->EmptyOutputFolder();
  }
  return outcome;
}

std::variant<JobResult, JobFailure> JobRun::Compact() {
  const std::string unloaded = LoadLibraries();
  if (!unloaded.empty()) return JobFailure{"object", unloaded};
  CompactionInput input;
  if (!ReadCompactionInput(job_.input, &input)) {
    return JobFailure{"failed", "the input is not that of a compaction"};
  }
  CompactionServiceOptionsOverride made;
  bool can_resume = false;
  if (auto failure = MakeOptions(input, &made, &can_resume)) return *failure;
  const auto env = ROCKSDB_NAMESPACE::NewCompositeEnv(
      std::make_shared<LateTables>(made.env->GetFileSystem(),
                                   place_->database_path(), NumbersOf(input)));
  made.env = env.get();
  OpenAndCompactOptions options;
  options.canceled = &cancelled_;
  options.allow_resumption = job_.is_resumable && can_resume;
  // Without resumption RocksDB needs it empty, and does not look.
  if (!options.allow_resumption) place_->EmptyOutputFolder();
  JobResult result;
  const Status status = DB::OpenAndCompact(options, place_->database_path(),
                                           place_->output_path(), job_.input,
                                           &result.payload, made);
  if (!status.ok()) return FailureOf(status);
  place_->ShareWithStore();
  // The store has no such descriptor.
  if (!ExchangeOutputPath(place_->output_path(), job_.output_path,
                          &result.payload)) {
    return JobFailure{"failed", "the result cannot be read"};
  }
  AddFigures(&result);
  return result;
}

std::optional<JobFailure> JobRun::MakeOptions(
    const CompactionInput& input, CompactionServiceOptionsOverride* made,
    bool* can_resume) const {
  StoreOptions store;
  const Status loaded =
      LoadStoreOptions(place_->env(), place_->database_path(), input, &store);
  if (loaded.IsIOError() || loaded.IsPathNotFound()) return FailureOf(loaded);
  if (!loaded.ok()) return JobFailure{"object", TextOf(loaded)};
  // Switched on after the store had looked: nothing would take them over.
  if (store.family.enable_blob_files) {
    return JobFailure{"failed", "the column family has blob files"};
  }
  CopyObjects(store, made);
  const std::string missing = WhatIsMissing(job_, *made);
  if (!missing.empty()) {
    return JobFailure{"object", "cannot be made here: " + missing};
  }
  OpenCheaply(input, place_->output_path(), made);
  place_->Prepare(store.database, made);
  CutAtNextLevel(job_.next_level_tables, store.family, made);
  if (job_.is_automatic) TellOfAutomatic(made);
  made->statistics = statistics_;
  *can_resume = CanResume(store.family);
  return std::nullopt;
}

void JobRun::AddFigures(JobResult* result) const {
  result->bytes_read = bytes_read();
  result->bytes_written = bytes_written();
  result->open_seconds = statistics_->open_seconds();
  result->cpu_seconds = CpuSeconds();
  result->resumed_bytes = statistics_->getTickerCount(
      ROCKSDB_NAMESPACE::REMOTE_COMPACT_RESUMED_BYTES);
}

// The operator's libraries add their filters and operators to the registry of
// RocksDB when they are loaded.
std::string JobRun::LoadLibraries() const {
  for (const std::string& path : job_.libraries) {
    if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      return ::dlerror();
    }
  }
  return "";
}

// Names the folders as the store does.
std::string JobRun::TextOf(const Status& status) const {
  std::string text = status.ToString();
  Exchange(place_->database_path() + "/", job_.database_path + "/", &text);
  Exchange(place_->output_path() + "/", job_.output_path + "/", &text);
  return text;
}

JobFailure JobRun::FailureOf(const Status& status) const {
  const std::string message = TextOf(status);
  if (is_space_used_up_) {
    return {"too-large", "the temporary space of the job is used up"};
  }
  if (cancelled_) return {"cancelled", message};
  if (status.IsNoSpace()) return {"disk-full", message};
  if (status.IsMemoryLimit()) return {"worker-memory", message};
  return {"failed", message};
}

// COMPACT_READ_BYTES stands still while nothing is written, as where all that
// is read is dropped.
uint64_t JobRun::bytes_read() const {
  using ROCKSDB_NAMESPACE::LAST_LEVEL_READ_BYTES;
  using ROCKSDB_NAMESPACE::NON_LAST_LEVEL_READ_BYTES;
  return statistics_->getTickerCount(LAST_LEVEL_READ_BYTES) +
         statistics_->getTickerCount(NON_LAST_LEVEL_READ_BYTES);
}

uint64_t JobRun::bytes_written() const {
  return statistics_->getTickerCount(ROCKSDB_NAMESPACE::COMPACT_WRITE_BYTES);
}

void JobRun::CheckTemporarySpace() {
  if (job_.temporary_limit_bytes == 0 ||
      bytes_written() <= job_.temporary_limit_bytes) {
    return;
  }
  is_space_used_up_ = true;
  Cancel();
}

}  // namespace sluice
