// The files of a database as its jobs have them: on this node, or in a pool.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sluice/remote/agent_messages.h"

namespace sluice {

// Methods may be called at the same time.
class JobFiles {
 public:
  virtual ~JobFiles() = default;

  // The form of a path that workers are given.
  virtual std::string CleanPath(const std::string& path) const = 0;

  // Of a file that the store can read once it is its own, else nothing.
  virtual std::optional<uint64_t> OutputBytes(
      const std::string& path) const = 0;

  // Makes the output folder of a job, and says in it how a worker is to get
  // there; false if it cannot be made or is there already.
  virtual bool MakeOutputFolder(RemoteJob* job) const = 0;
  // Has no worker change anything in the folder from then on, where one may
  // keep the store from it; false if that failed.
  virtual bool TakeBackOutputFolder(const std::string& path) const = 0;
  // Removes such a folder and what is in it, also while a worker is there that
  // does not know yet.
  virtual void RemoveOutputFolder(const std::string& path) const = 0;
  // Removes the folders that jobs of an earlier process have left.
  virtual void RemoveLeftOutputFolders(
      const std::string& parent,
      const std::function<bool(const std::string& path)>& is_in_use) const = 0;
};

}  // namespace sluice
