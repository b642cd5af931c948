#include "sluice/signal_free_thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace sluice {
namespace {

bool IsBlocked(int signal) {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, signal) == 1;
}

// Without room for a stack no thread starts.
void StartWithoutRoom() {
  rlimit limit;
  ::getrlimit(RLIMIT_AS, &limit);
  const rlim_t before = std::exchange(limit.rlim_cur, 1 << 20);
  ::setrlimit(RLIMIT_AS, &limit);
  bool has_thrown = false;
  try {
    StartSignalFreeThread("test", [] {}).join();
  } catch (const std::system_error&) {
    has_thrown = true;
  }
  limit.rlim_cur = before;
  ::setrlimit(RLIMIT_AS, &limit);
  ::_exit(has_thrown && !IsBlocked(SIGTERM) ? 0 : 1);
}

TEST(SignalFreeThreadTest, NoSignalReachesIt) {
  bool is_blocked = false;
  StartSignalFreeThread("test", [&] {
    is_blocked = IsBlocked(SIGTERM);
  }).join();
  EXPECT_TRUE(is_blocked);
  EXPECT_FALSE(IsBlocked(SIGTERM));
}

TEST(SignalFreeThreadTest, OneThatCannotStartLeavesTheSignalsOfTheProgram) {
  // In a process that has no stack of an earlier thread to use again.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(StartWithoutRoom(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sluice
