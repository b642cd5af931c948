#include "sluice/signal_free_thread.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace sluice {

std::thread StartSignalFreeThread(const char* name,
                                  std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  ::pthread_setname_np(thread.native_handle(), name);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace sluice
