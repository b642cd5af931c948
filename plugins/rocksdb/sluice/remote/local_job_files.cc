#include "sluice/remote/local_job_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "sluice/protocol/file_descriptor.h"
#include "sluice/remote/output_folder.h"

namespace sluice {

std::string LocalJobFiles::CleanPath(const std::string& path) const {
  const auto clean = std::filesystem::absolute(path).lexically_normal();
  std::string text = clean.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::optional<uint64_t> LocalJobFiles::OutputBytes(
    const std::string& path) const {
  const FileDescriptor opened(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!opened.IsOpen() || ::fstat(opened.get(), &status) != 0 ||
      !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(status.st_size);
}

bool LocalJobFiles::MakeOutputFolder(RemoteJob* job) const {
  return sluice::MakeOutputFolder(job->output_path);
}

void LocalJobFiles::RemoveOutputFolder(const std::string& path) const {
  sluice::RemoveOutputFolder(path);
}

void LocalJobFiles::RemoveLeftOutputFolders(
    const std::string& parent,
    const std::function<bool(const std::string& path)>& is_in_use) const {
  sluice::RemoveLeftOutputFolders(parent, is_in_use);
}

}  // namespace sluice
