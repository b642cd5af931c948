#include "sluice/remote/output_folder.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "sluice/protocol/file_descriptor.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".sluice-compaction-";
constexpr std::string_view kGone = ".gone";
// Files get the group of the folder; not every file system keeps the bit.
constexpr mode_t kMode = 02770;
constexpr mode_t kPlainMode = 0770;
constexpr mode_t kFileMode = 0660;
// As the store's own files are, where it may not be in the group.
constexpr mode_t kReadableFileMode = 0664;
// Another one is needed only where a file was made during the last.
constexpr int kMostRemovals = 1000;

// A late worker has the folder open, and may make a file after the last look
// into it. In a folder that is removed it can make none.
void RemoveAll(const std::string& path) {
  std::error_code error;
  for (int each = 0; each < kMostRemovals; ++each) {
    fs::remove_all(path, error);
    if (error != std::errc::directory_not_empty) return;
  }
}

std::optional<gid_t> FindGroup() {
  std::array<char, 16 << 10> text;
  group entry;
  group* found = nullptr;
  ::getgrnam_r("sluice", &entry, text.data(), text.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->gr_gid;
}

// Workers run with this group; where it is missing they run as this user.
void GiveToGroup(const std::string& path) {
  // Once: it may be a server of names that is asked, and a compaction waits.
  static const std::optional<gid_t> group = FindGroup();
  if (!group) return;
  // Fails where this process is not in the group: then it keeps its own.
  if (::chown(path.c_str(), static_cast<uid_t>(-1), *group) != 0) return;
}

}  // namespace

std::string OutputFolderPath(const std::string& parent, const std::string& id) {
  return (parent == "/" ? "" : parent) + "/" + std::string(kPrefix) + id;
}

bool IsOutputFolder(const std::string& path) {
  return fs::path(path).filename().string().rfind(kPrefix, 0) == 0;
}

bool MakeOutputFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) return false;
  GiveToGroup(path);
  return ::chmod(path.c_str(), kMode) == 0 ||
         ::chmod(path.c_str(), kPlainMode) == 0;
}

void RemoveOutputFolder(const std::string& path) {
  if (!IsOutputFolder(path)) return;
  const std::string gone = path + std::string(kGone);
  std::error_code ignored;
  // An earlier removal may not have come to its end.
  RemoveAll(gone);
  fs::rename(path, gone, ignored);
  RemoveAll(gone);
  RemoveAll(path);
}

void RemoveLeftOutputFolders(
    const std::string& parent,
    const std::function<bool(const std::string& path)>& is_in_use) {
  std::error_code error;
  for (fs::directory_iterator each(parent, error), end; !error && each != end;
       each.increment(error)) {
    const std::string path = each->path().string();
    if (IsOutputFolder(path) && !is_in_use(path)) RemoveOutputFolder(path);
  }
}

void ShareWithStore(const std::string& path) {
  struct stat folder;
  if (::stat(path.c_str(), &folder) != 0) return;
  // The kernel takes the bit from who gives it and is not in the group.
  const bool is_kept = (folder.st_mode & S_ISGID) != 0;
  const mode_t mode = is_kept ? kFileMode : kReadableFileMode;
  std::error_code error;
  for (fs::directory_iterator each(path, error), end; !error && each != end;
       each.increment(error)) {
    const FileDescriptor file(::open(
        each->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    // Where either is refused the store says that it cannot read the file.
    const bool has_group =
        status.st_gid == folder.st_gid ||
        ::fchown(file.get(), static_cast<uid_t>(-1), folder.st_gid) == 0;
    if (!has_group || ::fchmod(file.get(), mode) != 0) return;
  }
}

}  // namespace sluice
