// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <atomic>
#include <utility>

namespace sluice {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        note_(std::exchange(other.note_, nullptr)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(note_, other.note_);
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return descriptor_; }
  bool IsOpen() const { return descriptor_ >= 0; }

  // A process that is forked from this one closes it at once. It has none of
  // the threads, and would keep a socket whose parent has ended.
  void CloseInChildren();

  void Close() {
    // Before another file can get the number.
    if (note_ != nullptr) *note_ = 0;
    note_ = nullptr;
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_ = -1;
  std::atomic<int>* note_ = nullptr;
};

}  // namespace sluice
