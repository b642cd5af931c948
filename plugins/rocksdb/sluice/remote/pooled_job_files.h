// Files of jobs in directories of a pool.
#pragma once

#include <memory>
#include <utility>

#include "sluice/pool/pool_file_system.h"
#include "sluice/remote/job_files.h"

namespace sluice {

// A worker has a lease on its output directory, under that of the store: for as
// long as it has it the store changes nothing there.
class PooledJobFiles : public JobFiles {
 public:
  explicit PooledJobFiles(std::shared_ptr<PoolFileSystem> pool)
      : pool_(std::move(pool)) {}

  std::string CleanPath(const std::string& path) const override;
  std::optional<uint64_t> OutputBytes(const std::string& path) const override;
  bool MakeOutputFolder(RemoteJob* job) const override;
  bool TakeBackOutputFolder(const std::string& path) const override;
  void RemoveOutputFolder(const std::string& path) const override;
  void RemoveLeftOutputFolders(
      const std::string& parent,
      const std::function<bool(const std::string& path)>& is_in_use)
      const override;

 private:
  const std::shared_ptr<PoolFileSystem> pool_;
};

}  // namespace sluice
