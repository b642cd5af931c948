// What a worker has to know of a compaction.
#pragma once

#include <set>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "sluice/remote/agent_messages.h"

namespace sluice {

// Fills in `job` all but its output path. Returns why the compaction stays
// local; empty if it may go.
std::string DescribeJob(ROCKSDB_NAMESPACE::DB* db,
                        const ROCKSDB_NAMESPACE::CompactionServiceJobInfo& info,
                        const std::string& payload, RemoteJob* job);

// Folders in which jobs of an open database have their output folders.
std::set<std::string> OutputParents(ROCKSDB_NAMESPACE::DB* db);

}  // namespace sluice
