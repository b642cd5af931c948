// Where the files of a job are: in folders of this node, or in a pool.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "sluice/worker/job_line.h"

namespace sluice {

class JobPlace {
 public:
  virtual ~JobPlace() = default;

  // Why it cannot be opened; empty if it is. Before anything else.
  virtual std::string Open() = 0;

  virtual ROCKSDB_NAMESPACE::Env* env() = 0;
  // As this process has them.
  virtual std::string database_path() const = 0;
  virtual std::string output_path() const = 0;

  // Whether a job may begin to write: another one may have been there before
  // one that is resumable.
  virtual bool HasOutputFolder(bool is_resumable) = 0;
  virtual void EmptyOutputFolder() = 0;
  // Lets the store have the files of the output.
  virtual void ShareWithStore() = 0;

  // Has RocksDB compact here, with what is needed beside the store's options.
  virtual void Prepare(
      const ROCKSDB_NAMESPACE::DBOptions& store,
      ROCKSDB_NAMESPACE::CompactionServiceOptionsOverride* options) = 0;
};

// The job outlives it.
std::unique_ptr<JobPlace> PlaceOf(const WorkerJob& job);

}  // namespace sluice
