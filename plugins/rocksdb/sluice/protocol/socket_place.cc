#include "sluice/protocol/socket_place.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace sluice {
namespace {

constexpr size_t kMaxNameBytes = 63;
constexpr mode_t kSocketMode = 0660;
constexpr int kBacklog = 16;
constexpr int kLockAttempts = 50;
constexpr int kLockPauseMilliseconds = 10;

std::string Reason(const std::string& action) {
  return action + ": " + std::generic_category().message(errno);
}

bool AddressOf(const std::string& path, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  if (path.size() >= sizeof(address->sun_path)) return false;
  std::copy(path.begin(), path.end(), address->sun_path);
  return true;
}

FileDescriptor NewSocket() {
  return FileDescriptor(
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Whether no process listens there, so that the place may be taken.
bool IsFree(const sockaddr_un& address) {
  const FileDescriptor probe = NewSocket();
  const int failed = ::connect(
      probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return failed != 0 && (errno == ECONNREFUSED || errno == ENOENT);
}

// Who has the lock keeps it for an instant; one that was stopped meanwhile must
// not keep a database from opening.
bool LockSoon(const FileDescriptor& folder) {
  for (int i = 0; i < kLockAttempts; ++i) {
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    ::poll(nullptr, 0, kLockPauseMilliseconds);
  }
  return false;
}

// Binds and listens; the mode is set before anybody can find the name.
bool BindAt(const FileDescriptor& listener, const std::string& path,
            std::string* error) {
  const std::string unpublished = path + '.' + std::to_string(::getpid());
  sockaddr_un address;
  if (!AddressOf(unpublished, &address)) {
    *error = "the path " + path +
             " is too long for a socket; give a shorter "
             "socket_directory or instance";
    return false;
  }
  ::unlink(unpublished.c_str());
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
             sizeof address) == 0 &&
      ::chmod(unpublished.c_str(), kSocketMode) == 0 &&
      ::listen(listener.get(), kBacklog) == 0 &&
      ::rename(unpublished.c_str(), path.c_str()) == 0) {
    return true;
  }
  *error = Reason("cannot listen at " + path);
  ::unlink(unpublished.c_str());
  return false;
}

}  // namespace

bool IsInstanceName(const std::string& name) {
  const auto is_first = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
  };
  const auto is_inner = [&](char c) {
    return is_first(c) || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxNameBytes && is_first(name[0]) &&
         std::all_of(name.begin(), name.end(), is_inner);
}

SocketPlace SocketPlace::Listen(const std::string& folder,
                                const std::string& instance,
                                std::string* error) {
  error->clear();
  SocketPlace place;
  if (!IsInstanceName(instance)) {
    *error = "\"" + instance +
             "\" is no name of an instance: give letters, "
             "digits, '.', '_', '-', at most 63";
    return place;
  }
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  FileDescriptor lock(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  lock.CloseInChildren();
  if (!lock.IsOpen() || !LockSoon(lock)) {
    *error = Reason("cannot use the folder " + folder) +
             "; make it, writable for this process and with group sluice";
    return place;
  }
  const std::string path = folder + "/" + instance + ".sock";
  sockaddr_un address;
  if (AddressOf(path, &address) && !IsFree(address)) {
    *error = path +
             " is served by another process; give this one another "
             "instance";
    return place;
  }
  place.listener_ = NewSocket();
  place.listener_.CloseInChildren();
  struct stat status;
  if (BindAt(place.listener_, path, error) &&
      ::stat(path.c_str(), &status) == 0) {
    place.path_ = path;
    place.device_ = status.st_dev;
    place.inode_ = status.st_ino;
  } else {
    place.listener_.Close();
  }
  return place;
}

bool SocketPlace::IsThere() const {
  struct stat status;
  return ::stat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

// Another process may have taken the place of a file that was removed.
SocketPlace::~SocketPlace() {
  if (listener_.IsOpen() && IsThere()) ::unlink(path_.c_str());
}

}  // namespace sluice
