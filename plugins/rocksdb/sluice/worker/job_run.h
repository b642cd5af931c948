// Runs the compaction of a job.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "rocksdb/options.h"
#include "sluice/remote/compaction_payload.h"
#include "sluice/worker/job_line.h"
#include "sluice/worker/job_place.h"
#include "sluice/worker/job_statistics.h"
#include "sluice/worker/report_lines.h"

namespace sluice {

class JobRun {
 public:
  explicit JobRun(WorkerJob job);

  // Opens the database as it is and compacts into the output path. Nobody
  // else changes anything of the database. A failure leaves the output path
  // empty, but for one of the path itself.
  std::variant<JobResult, JobFailure> Run();

  // Ends the compaction soon. Safe in a signal handler.
  void Cancel() { cancelled_ = true; }

  uint64_t bytes_read() const;
  uint64_t bytes_written() const;
  // Ends it for want of temporary space if it has written too much.
  void CheckTemporarySpace();

 private:
  std::variant<JobResult, JobFailure> Compact();
  // What RocksDB is to compact with; a failure if this cannot be made here.
  std::optional<JobFailure> MakeOptions(
      const CompactionInput& input,
      ROCKSDB_NAMESPACE::CompactionServiceOptionsOverride* made,
      bool* can_resume) const;
  std::string LoadLibraries() const;
  void AddFigures(JobResult* result) const;
  std::string TextOf(const ROCKSDB_NAMESPACE::Status& status) const;
  JobFailure FailureOf(const ROCKSDB_NAMESPACE::Status& status) const;

  const WorkerJob job_;
  const std::unique_ptr<JobPlace> place_;
  const std::shared_ptr<JobStatistics> statistics_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> is_space_used_up_{false};
};

}  // namespace sluice
