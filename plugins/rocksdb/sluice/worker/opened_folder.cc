#include "sluice/worker/opened_folder.h"

#include <fcntl.h>

#include <filesystem>
#include <utility>

namespace sluice {
namespace {

constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

}  // namespace

OpenedFolder OpenedFolder::Checked(const std::string& path) {
  FileDescriptor reached(::open("/", kFlags));
  for (const auto& part : std::filesystem::path(path).relative_path()) {
    FileDescriptor next(
        ::openat(reached.get(), part.c_str(), kFlags | O_NOFOLLOW));
    if (!next.IsOpen()) return OpenedFolder();
    reached = std::move(next);
  }
  return OpenedFolder(std::move(reached));
}

OpenedFolder OpenedFolder::Unchecked(const std::string& path) {
  return OpenedFolder(FileDescriptor(::open(path.c_str(), kFlags)));
}

std::string OpenedFolder::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_.get());
}

}  // namespace sluice
