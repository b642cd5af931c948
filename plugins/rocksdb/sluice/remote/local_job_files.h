// Files of jobs in folders of this node.
#pragma once

#include "sluice/remote/job_files.h"

namespace sluice {

class LocalJobFiles : public JobFiles {
 public:
  std::string CleanPath(const std::string& path) const override;
  std::optional<uint64_t> OutputBytes(const std::string& path) const override;
  bool MakeOutputFolder(RemoteJob* job) const override;
  // A worker keeps nobody from anything, and what it has renamed away is its
  // own.
  bool TakeBackOutputFolder(const std::string&) const override { return true; }
  void RemoveOutputFolder(const std::string& path) const override;
  void RemoveLeftOutputFolders(
      const std::string& parent,
      const std::function<bool(const std::string& path)>& is_in_use)
      const override;
};

}  // namespace sluice
