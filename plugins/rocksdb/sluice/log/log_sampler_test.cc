// The thread that looks at the devices of logs, where it cannot be started.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "sluice/log/log_tiers.h"

namespace sluice {
namespace {

bool IsSampling() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  for (const auto& thread : threads) {
    std::ifstream file(thread.path() / "comm");
    std::string name;
    std::getline(file, name);
    if (name == "sluice-queues") return true;
  }
  return false;
}

// Without room for a stack no thread starts.
bool OpensWithoutRoom(LogTiers* tiers, TieredLogs* logs) {
  rlimit limit;
  ::getrlimit(RLIMIT_AS, &limit);
  const rlim_t before = std::exchange(limit.rlim_cur, 1 << 20);
  ::setrlimit(RLIMIT_AS, &limit);
  bool has_thrown = false;
  try {
    tiers->Opened(logs);
  } catch (const std::exception&) {
    has_thrown = true;
  }
  limit.rlim_cur = before;
  ::setrlimit(RLIMIT_AS, &limit);
  return !has_thrown;
}

void OpenTwice() {
  const LeaseStore leases(MonotonicClock::Default());
  LogTiers tiers(&leases, MonotonicClock::Default());
  TieredLogFileSystem files(ROCKSDB_NAMESPACE::FileSystem::Default());
  ROCKSDB_NAMESPACE::DBOptions db_options;
  PluginOptions options;
  options.wal_slow_directory = "/nonexistent/slow";
  const auto logs = tiers.Prepare("orders", "/nonexistent/orders", options,
                                  &db_options, &files);
  if (OpensWithoutRoom(&tiers, logs.get()) || IsSampling()) ::_exit(1);
  tiers.Opened(logs.get());
  ::_exit(IsSampling() ? 0 : 2);
}

TEST(LogSamplerTest, TheNextOpeningStartsItWhereOneCouldNot) {
  // In a process that has no stack of an earlier thread to use again.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(OpenTwice(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sluice
