// The place of a socket in the file system, which one process has at a time.
#pragma once

#include <sys/types.h>

#include <string>

#include "sluice/protocol/file_descriptor.h"

namespace sluice {

// Whether a name may be that of an instance: at most 63 letters, digits, '.',
// '_', '-', the first a letter or digit.
bool IsInstanceName(const std::string& name);

// A listening socket with mode 0660, and its file, which is removed at the
// end. Its group is that of the folder, if the folder has the set-group-ID
// bit.
class SocketPlace {
 public:
  // Listens at FOLDER/INSTANCE.sock. Says in `error` why not, and what to do.
  static SocketPlace Listen(const std::string& folder,
                            const std::string& instance, std::string* error);

  SocketPlace() = default;
  SocketPlace(SocketPlace&&) noexcept = default;
  SocketPlace& operator=(SocketPlace&&) noexcept = default;
  ~SocketPlace();

  const FileDescriptor& listener() const { return listener_; }
  const std::string& path() const { return path_; }

  // Whether clients find it there; its file may be removed or replaced.
  bool IsThere() const;

 private:
  FileDescriptor listener_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace sluice
