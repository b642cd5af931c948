// Runs the compaction of a job.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <variant>

#include "rocksdb/statistics.h"
#include "sluice/worker/job_line.h"
#include "sluice/worker/report_lines.h"

namespace sluice {

// Removes what is in a folder.
void EmptyFolder(const std::string& path);

class JobRun {
 public:
  explicit JobRun(WorkerJob job);

  // Opens the database as it is and compacts into the output path. Nobody
  // else changes anything of the database.
  std::variant<JobResult, JobFailure> Run();

  // Ends the compaction soon. Safe in a signal handler.
  void Cancel() { cancelled_ = true; }

  uint64_t bytes_read() const;
  uint64_t bytes_written() const;
  // Ends it for want of temporary space if it has written too much.
  void CheckTemporarySpace();

 private:
  std::string LoadLibraries() const;
  JobFailure FailureOf(const ROCKSDB_NAMESPACE::Status& status) const;

  const WorkerJob job_;
  const std::shared_ptr<ROCKSDB_NAMESPACE::Statistics> statistics_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> is_space_used_up_{false};
};

}  // namespace sluice
