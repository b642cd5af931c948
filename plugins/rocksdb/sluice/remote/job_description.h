// What a worker has to know of a compaction.
#pragma once

#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "sluice/remote/agent_messages.h"

namespace sluice {

// Fills in `job`. Returns why the compaction stays local; empty if it may go.
std::string DescribeJob(ROCKSDB_NAMESPACE::DB* db,
                        const ROCKSDB_NAMESPACE::CompactionServiceJobInfo& info,
                        const std::string& payload, RemoteJob* job);

// The folder in which jobs of a database have their output folders.
std::string OutputParent(const std::string& database);

}  // namespace sluice
