#include "sluice/protocol/file_descriptor.h"

#include <pthread.h>

#include <array>

namespace sluice {
namespace {

// Each is a descriptor and 1, or 0 for none: more than all connections. What
// finds no place here stays open in children.
std::array<std::atomic<int>, 128> notes{};

void CloseNoted() {
  for (auto& note : notes) {
    const int noted = note.exchange(0);
    if (noted > 0) ::close(noted - 1);
  }
}

}  // namespace

void FileDescriptor::CloseInChildren() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, &CloseNoted);
  if (registered != 0 || !IsOpen()) return;
  for (auto& note : notes) {
    int none = 0;
    if (!note.compare_exchange_strong(none, descriptor_ + 1)) continue;
    note_ = &note;
    return;
  }
}

}  // namespace sluice
