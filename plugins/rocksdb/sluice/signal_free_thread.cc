#include "sluice/signal_free_thread.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace sluice {
namespace {

// Signals of the calling thread are blocked as long as it lives.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::thread StartSignalFreeThread(const char* name,
                                  std::function<void()> body) {
  // A thread that cannot be started throws; the program keeps its signals.
  const BlockedSignals blocked;
  std::thread thread(std::move(body));
  ::pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace sluice
