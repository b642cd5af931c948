#include "sluice/remote/output_folder.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".sluice-compaction-";
constexpr mode_t kMode = 02770;

bool IsOutputFolder(const std::string& path) {
  return fs::path(path).filename().string().rfind(kPrefix, 0) == 0;
}

// Workers run with this group; where it is missing they run as this user.
void GiveToGroup(const std::string& path) {
  std::array<char, 16 << 10> text;
  group entry;
  group* found = nullptr;
  ::getgrnam_r("sluice", &entry, text.data(), text.size(), &found);
  if (found == nullptr) return;
  // Fails where this process is not in the group: then it keeps its own.
  if (::chown(path.c_str(), static_cast<uid_t>(-1), found->gr_gid) != 0) return;
}

}  // namespace

std::string OutputFolderPath(const std::string& parent, const std::string& id) {
  return parent + "/" + std::string(kPrefix) + id;
}

bool MakeOutputFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) return false;
  GiveToGroup(path);
  return ::chmod(path.c_str(), kMode) == 0;
}

void RemoveOutputFolder(const std::string& path) {
  if (!IsOutputFolder(path)) return;
  std::error_code ignored;
  fs::remove_all(path, ignored);
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

bool AreOnOneFileSystem(const std::string& first, const std::string& second) {
  struct stat a;
  struct stat b;
  return ::stat(first.c_str(), &a) == 0 && ::stat(second.c_str(), &b) == 0 &&
         a.st_dev == b.st_dev;
}

}  // namespace sluice
