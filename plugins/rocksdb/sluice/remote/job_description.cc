#include "sluice/remote/job_description.h"

#include <algorithm>

#include "monitoring/persistent_stats_history.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/env.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "sluice/remote/compaction_payload.h"
#include "sluice/remote/output_folder.h"
#include "sluice/store/store_access.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::CompactionReason;
using ROCKSDB_NAMESPACE::CompactionServiceJobInfo;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DbPath;
using ROCKSDB_NAMESPACE::Env;

// What a line may hold.
constexpr size_t kMaxPayloadBytes = 2 << 20;
constexpr size_t kMaxIdBytes = 128;

// Of letters, digits, '.', '_', '-', the first a letter or digit.
std::string IdOf(const CompactionServiceJobInfo& info) {
  std::string id = "j" + info.db_id + "-" + info.db_session_id + "-" +
                   std::to_string(info.job_id);
  for (char& c : id) {
    const bool is_allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!is_allowed) c = '_';
  }
  // The number at the end tells jobs apart.
  if (id.size() > kMaxIdBytes)
    id = "j" + id.substr(id.size() - kMaxIdBytes + 1);
  return id;
}

// Folders of tables are in no OPTIONS file: a worker looks in that of the
// database.
bool HasTablesElsewhere(DB* db, const std::string& database_path,
                        const ColumnFamilyOptions& options,
                        const JobFiles& files) {
  const auto& of_database = db->GetDBOptions().db_paths;
  const auto& paths = options.cf_paths.empty() ? of_database : options.cf_paths;
  return std::any_of(paths.begin(), paths.end(), [&](const DbPath& each) {
    return files.CleanPath(each.path) != database_path;
  });
}

// What the store does for itself. A worker does not learn of a temperature, and
// the store would begin the same compaction again and again.
bool IsInternal(const CompactionServiceJobInfo& info) {
  return info.compaction_reason == CompactionReason::kChangeTemperature ||
         info.cf_name == ROCKSDB_NAMESPACE::kPersistentStatsColumnFamilyName;
}

// What the input of a compaction does not carry, and would change what comes of
// it; nullptr if there is nothing.
const char* WhatAWorkerIsNotTold(DB* db, const CompactionServiceJobInfo& info,
                                 const CompactionInput& input,
                                 const ColumnFamilyOptions& options) {
  // Switched on since the compaction was picked: a worker would make some.
  if (options.enable_blob_files) return "blob-files";
  if (HasWritesToConflictWith(db, info.cf_id, input.files)) {
    return "write-conflict";
  }
  // CompactFiles() has options of its own, and alone this priority.
  if (info.priority == Env::Priority::USER) return "compact-files";
  // OpenAndTrimHistory() has what is later than a timestamp dropped.
  const bool may_trim =
      info.is_manual_compaction && options.comparator->timestamp_size() > 0;
  return may_trim ? "trim-history" : nullptr;
}

bool AddInputSize(DB* db, const std::string& file, RemoteJob* job) {
  uint64_t bytes = 0;
  if (!db->GetEnv()->GetFileSize(db->GetName() + "/" + file, &bytes).ok()) {
    return false;
  }
  job->input_bytes += bytes;
  ++job->input_files;
  return true;
}

void AddObject(const char* kind, const char* name, RemoteJob* job) {
  job->objects.push_back({kind, name});
}

// Those that every worker has are left out.
void AddObjects(const ColumnFamilyOptions& options, RemoteJob* job) {
  using ROCKSDB_NAMESPACE::BytewiseComparator;
  using ROCKSDB_NAMESPACE::ReverseBytewiseComparator;
  using ROCKSDB_NAMESPACE::TableFactory;
  if (options.comparator != BytewiseComparator() &&
      options.comparator != ReverseBytewiseComparator()) {
    AddObject("comparator", options.comparator->Name(), job);
  }
  if (options.merge_operator) {
    AddObject("merge-operator", options.merge_operator->Name(), job);
  }
  if (options.compaction_filter_factory) {
    AddObject("compaction-filter-factory",
              options.compaction_filter_factory->Name(), job);
  }
  if (!options.table_factory->IsInstanceOf(
          TableFactory::kBlockBasedTableName())) {
    AddObject("table-factory", options.table_factory->Name(), job);
  }
  if (options.prefix_extractor) {
    AddObject("prefix-extractor", options.prefix_extractor->Name(), job);
  }
  if (options.sst_partitioner_factory) {
    AddObject("sst-partitioner-factory",
              options.sst_partitioner_factory->Name(), job);
  }
  for (const auto& each : options.table_properties_collector_factories) {
    AddObject("table-properties-collector-factory", each->Name(), job);
  }
}

}  // namespace

std::string DescribeJob(DB* db, const CompactionServiceJobInfo& info,
                        const std::string& payload, const JobFiles& files,
                        RemoteJob* job) {
  if (IsInternal(info)) return "internal";
  CompactionInput input;
  if (!ReadCompactionInput(payload, &input)) return "input-invalid";
  if (payload.size() > kMaxPayloadBytes) return "too-large";
  const auto family = OpenFamily(db, info.cf_id);
  ColumnFamilyDescriptor descriptor;
  if (!family || !family->GetDescriptor(&descriptor).ok()) return "no-family";
  const ColumnFamilyOptions& options = descriptor.options;
  if (options.compaction_filter != nullptr) return "raw-filter";
  if (const char* untold = WhatAWorkerIsNotTold(db, info, input, options)) {
    return untold;
  }
  // A worker would read what the store leaves out. The store counts what was
  // read, and ends in error if it is not what it expects.
  if (HasRangeDeletionTable(db, info.cf_id, input.files)) {
    return "range-deletion";
  }

  job->database_path = files.CleanPath(info.db_name);
  if (HasTablesElsewhere(db, job->database_path, options, files)) {
    return "table-folders";
  }
  job->id = IdOf(info);
  job->family = info.cf_name;
  job->input_level = info.base_input_level;
  job->output_level = info.output_level;
  job->is_automatic = !info.is_manual_compaction;
  job->input = payload;
  AddObjects(options, job);
  job->next_level_tables =
      TablesOfNextLevel(db, info.cf_id, input, info.output_level);
  // A part of a compaction is given the input of the whole.
  for (const auto& table : TablesInRange(db, info.cf_id, input)) {
    if (!AddInputSize(db, table, job)) return "input-missing";
  }
  job->output_path = OutputFolderPath(job->database_path, job->id);
  return "";
}

}  // namespace sluice
