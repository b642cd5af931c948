// Openings of one database at the same time: its logs are those of one of them,
// until that has ended.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sluice/log/log_tiers.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSWritableFile;

class SimultaneousOpeningsTest : public testing::Test {
 protected:
  SimultaneousOpeningsTest() {
    char folder[] = "/tmp/sluice-log-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    for (const char* each : {"/orders", "/slow"}) {
      std::filesystem::create_directory(folder_ + each);
    }
    options_.wal_slow_directory = folder_ + "/slow";
    Setting slow{SettingName::kTier, 0};
    slow.text = "slow";
    leases_.Set({Kind::kLogPlacement, "", slow, "test", {}}, 600, true);
  }
  ~SimultaneousOpeningsTest() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<TieredLogs> Prepare() {
    DBOptions db_options;
    return tiers_.Prepare("orders", folder_ + "/orders", options_, &db_options,
                          &files_);
  }
  // A log that the store makes now has a part on the slow tier.
  bool MakesPart(TieredLogs* logs, uint64_t number) {
    std::unique_ptr<FSWritableFile> log;
    const auto status = files_.NewWritableFile(
        folder_ + "/orders/" + LogName(number), FileOptions(), &log, nullptr);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return std::filesystem::exists(logs->files()->SlowPath(number));
  }

  std::string folder_;
  PluginOptions options_;
  LeaseStore leases_{MonotonicClock::Default()};
  LogTiers tiers_{&leases_, MonotonicClock::Default()};
  TieredLogFileSystem files_{FileSystem::Default()};
};

TEST_F(SimultaneousOpeningsTest, TheFirstKeepsItsLogs) {
  const auto first = Prepare();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(Prepare(), nullptr);
  EXPECT_TRUE(MakesPart(first.get(), 7));
  first->Shutdown();
  const auto next = Prepare();
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(MakesPart(next.get(), 8));
}

TEST_F(SimultaneousOpeningsTest, OneOfManyHasTheLogs) {
  for (int round = 0; round < 20; ++round) {
    int having = 0;
    std::vector<std::shared_ptr<TieredLogs>> all(8);
    std::vector<std::thread> openings;
    for (auto& each : all) {
      openings.emplace_back([this, &each] { each = Prepare(); });
    }
    for (std::thread& each : openings) each.join();
    for (const auto& each : all) {
      if (each == nullptr) continue;
      ++having;
      EXPECT_TRUE(MakesPart(each.get(), static_cast<uint64_t>(round)));
      each->Shutdown();
    }
    EXPECT_EQ(having, 1);
  }
}

// It comes to no database, which would say that it closes.
class RefusedOpeningTest : public OpenedStore {
 protected:
  uint64_t SlowBytes() {
    const Json snapshot = Call("snapshot", Json::object());
    return snapshot["figures"].value("wal_slow_bytes_total", uint64_t{0});
  }
};

TEST_F(RefusedOpeningTest, DoesNotKeepTheLogs) {
  const std::string slow = folder_ + "/slow";
  std::filesystem::create_directory(slow);
  const std::string on_two_tiers = "remote=false;wal_slow_directory=" + slow;
  options_.keep_log_file_num = 0;
  EXPECT_TRUE(DB::Open(OptionsWith(on_two_tiers), folder_ + "/orders", &db_)
                  .IsInvalidArgument());
  options_.keep_log_file_num = 10;
  Open(on_two_tiers);
  const uint64_t before = SlowBytes();
  Set("log-placement", "", {{"name", "tier"}, {"text", "slow"}});
  Put(1);
  EXPECT_GT(SlowBytes(), before);
}

}  // namespace
}  // namespace sluice
