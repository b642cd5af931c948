// A folder of a job, which stays the same whatever its path leads to later.
#pragma once

#include <string>
#include <utility>

#include "sluice/protocol/file_descriptor.h"

namespace sluice {

// Opened once, and used by its descriptor from then on: between the agent's
// check of a path and its last use anybody who may write above it could put a
// symbolic link in its place.
class OpenedFolder {
 public:
  OpenedFolder() = default;

  // Follows no symbolic link in any part of the path: the agent has resolved
  // them all, and one that is there now has been put there since.
  static OpenedFolder Checked(const std::string& path);
  // For an agent that does not say what it has checked.
  static OpenedFolder Unchecked(const std::string& path);

  // False if it could not be opened; errno then says why.
  bool IsOpen() const { return descriptor_.IsOpen(); }
  // The folder itself for this process, as long as this object lives.
  std::string path() const;

 private:
  explicit OpenedFolder(FileDescriptor descriptor)
      : descriptor_(std::move(descriptor)) {}

  FileDescriptor descriptor_;
};

}  // namespace sluice
