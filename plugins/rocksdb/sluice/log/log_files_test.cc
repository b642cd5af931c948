// Files of logs on two tiers are removed together, and nothing is removed that
// may still be needed.
#include "sluice/log/log_files.h"

#include <fstream>
#include <vector>

#include "sluice/log/tiered_log_fixture.h"

namespace sluice {
namespace {

using LogFilesTest = TieredLogTest;

TEST_F(LogFilesTest, ALogIsRemovedFromBothTiers) {
  Append(Tier::kSlow, "one");
  log_.reset();
  ASSERT_TRUE(logs_->Remove(fast_path_).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/fast"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/slow"));
}

TEST_F(LogFilesTest, ALogThatIsBeingRemovedIsRead) {
  Append(Tier::kSlow, "one");
  std::filesystem::rename(slow_path_, slow_path_ + ".obsolete");
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "one");
}

TEST_F(LogFilesTest, WhatCrashesLeaveIsSwept) {
  Append(Tier::kSlow, "one");
  log_.reset();
  // Newer than all logs that are there.
  std::filesystem::copy(slow_path_, logs_->SlowPath(8));
  std::filesystem::copy(slow_path_, logs_->SlowPath(9) + ".obsolete");
  std::filesystem::copy(slow_path_, logs_->SlowPath(10));
  std::filesystem::resize_file(logs_->SlowPath(10), kHeadBytes);
  std::vector<uint64_t> lost;
  ASSERT_TRUE(logs_->Sweep(&lost).ok());
  EXPECT_EQ(lost, std::vector<uint64_t>{8});
  EXPECT_TRUE(std::filesystem::exists(slow_path_));
  EXPECT_TRUE(std::filesystem::exists(logs_->SlowPath(8)));
  EXPECT_FALSE(std::filesystem::exists(logs_->SlowPath(9) + ".obsolete"));
  EXPECT_FALSE(std::filesystem::exists(logs_->SlowPath(10)));
}

TEST_F(LogFilesTest, PartsOfRemovedLogsAreSwept) {
  Append(Tier::kSlow, "one");
  log_.reset();
  // RocksDB has removed 7 past the plug-in, while 8 was there.
  std::filesystem::rename(fast_path_, folder_ + "/fast/000008.log");
  std::ofstream(folder_ + "/fast/000006.log.merged") << "half of it";
  std::vector<uint64_t> lost;
  ASSERT_TRUE(logs_->Sweep(&lost).ok());
  EXPECT_EQ(lost, std::vector<uint64_t>{});
  EXPECT_FALSE(std::filesystem::exists(slow_path_));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/fast/000006.log.merged"));
}

// As where one was removed by hand: a newer one says nothing then.
TEST_F(LogFilesTest, ALogThatIsStillNeededIsMissed) {
  Append(Tier::kSlow, "one");
  log_.reset();
  std::filesystem::rename(fast_path_, folder_ + "/fast/000008.log");
  uint64_t oldest = 7;
  LogFiles logs(&files_, folder_ + "/fast", folder_ + "/slow",
                [&] { return oldest; });
  for (const bool removes : {true, false}) {
    std::vector<uint64_t> lost;
    const IOStatus status = removes ? logs.Sweep(&lost) : logs.FindLost(&lost);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(lost, std::vector<uint64_t>{7});
  }
  logs.RemoveSlowOfGone(fast_path_);
  EXPECT_TRUE(std::filesystem::exists(slow_path_));
  oldest = 8;
  logs.RemoveSlowOfGone(fast_path_);
  EXPECT_FALSE(std::filesystem::exists(slow_path_));
}

TEST_F(LogFilesTest, ALogWhoseFastFileIsEmptyIsNotTakenForAnEmptyOne) {
  Append(Tier::kSlow, "one");
  Sync();
  log_.reset();
  for (const uint64_t bytes : {kHeadBytes - 1, size_t{0}}) {
    std::filesystem::resize_file(fast_path_, bytes);
    EXPECT_TRUE(logs_->CheckAll().IsIOError());
  }
  // What a crash may leave of a log that nothing was written to.
  std::filesystem::resize_file(slow_path_, kHeadBytes);
  EXPECT_TRUE(logs_->CheckAll().ok());
}

// Without it all lists of logs would fail, and none be removed. It has no part
// in the database any more.
TEST_F(LogFilesTest, AnArchivedLogWithoutItsSlowPartHasASize) {
  Append(Tier::kSlow, "one");
  Sync();
  log_.reset();
  std::filesystem::remove(slow_path_);
  LogFiles logs(&files_, folder_ + "/fast", folder_ + "/slow");
  uint64_t bytes = 0;
  EXPECT_TRUE(logs.Size(fast_path_, &bytes).IsIOError());
  const std::string archived = folder_ + "/fast/archive/000007.log";
  std::filesystem::create_directory(folder_ + "/fast/archive");
  std::filesystem::rename(fast_path_, archived);
  const IOStatus status = logs.Size(archived, &bytes);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(bytes, SizeOf(archived));
}

TEST_F(LogFilesTest, ALogThatIsRemovedSlowlyLeavesNothing) {
  Append(Tier::kSlow, "one");
  log_.reset();
  ASSERT_TRUE(logs_->Rename(fast_path_, fast_path_ + ".trash").ok());
  EXPECT_FALSE(std::filesystem::exists(slow_path_));
}

TEST_F(LogFilesTest, ARemovalThatFailedIsDoneAnew) {
  Append(Tier::kSlow, "one");
  log_.reset();
  std::filesystem::rename(slow_path_, slow_path_ + ".obsolete");
  ASSERT_TRUE(logs_->Remove(fast_path_).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/slow"));
}

// As where an inode cannot be read: the log is there for all that is known.
TEST_F(LogFilesTest, NothingIsRemovedOfALogThatCannotBeLookedAt) {
  Append(Tier::kSlow, "one");
  log_.reset();
  std::ofstream(folder_ + "/fast/000008.log") << "a newer one";
  files_.is_broken = true;
  std::vector<uint64_t> lost;
  logs_->Sweep(&lost).PermitUncheckedError();
  logs_->RemoveSlowOfGone(fast_path_);
  EXPECT_TRUE(std::filesystem::exists(slow_path_));
  EXPECT_EQ(lost, std::vector<uint64_t>{});
}

TEST_F(LogFilesTest, ArchivedLogsAreThere) {
  Append(Tier::kSlow, "one");
  log_.reset();
  const std::string archive = folder_ + "/fast/archive";
  std::filesystem::create_directory(archive);
  std::filesystem::rename(fast_path_, archive + "/000007.log");
  std::ofstream(folder_ + "/fast/000008.log") << "a newer one";
  std::vector<uint64_t> lost;
  ASSERT_TRUE(logs_->Sweep(&lost).ok());
  logs_->RemoveSlowOfGone(fast_path_);
  EXPECT_TRUE(std::filesystem::exists(slow_path_));
}

TEST_F(LogFilesTest, AllLogsAreCheckedForWhatIsLost) {
  Append(Tier::kSlow, "one");
  Sync();
  std::ofstream(folder_ + "/fast/000008.log") << "a plain one";
  EXPECT_TRUE(logs_->CheckAll().ok());
  std::filesystem::remove(slow_path_);
  EXPECT_TRUE(logs_->CheckAll().IsIOError());
}

}  // namespace
}  // namespace sluice
