#include "sluice/protocol/local_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>

namespace sluice {

FileDescriptor ConnectTo(const std::string& path, int flags) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return FileDescriptor();
  std::copy(path.begin(), path.end(), address.sun_path);
  FileDescriptor socket(
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  const int failed =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof address);
  return failed == 0 ? std::move(socket) : FileDescriptor();
}

}  // namespace sluice
