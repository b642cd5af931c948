// What a worker has to know of a compaction.
#pragma once

#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "sluice/remote/job_files.h"

namespace sluice {

// Fills in `job`, of a database with such files. Returns why the compaction
// stays local; empty if it may go.
std::string DescribeJob(ROCKSDB_NAMESPACE::DB* db,
                        const ROCKSDB_NAMESPACE::CompactionServiceJobInfo& info,
                        const std::string& payload, const JobFiles& files,
                        RemoteJob* job);

}  // namespace sluice
