// A log on two tiers: what was appended is read, whatever was lost that was
// not synced, and what was synced is never missed in silence.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sluice/log/chosen_place.h"
#include "sluice/log/tiered_log_reader.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::FSWritableFileOwnerWrapper;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

// Appends to files of the slow tier fail half way while it is full.
class FillingFiles : public FileSystemWrapper {
 public:
  FillingFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "FillingFiles"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file,
                           IODebugContext* debug) override {
    IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok() && name.find(".slow-log") != std::string::npos) {
      *file = std::make_unique<FillingFile>(std::move(*file), &is_full);
    }
    return status;
  }

  bool is_full = false;

 private:
  class FillingFile : public FSWritableFileOwnerWrapper {
   public:
    FillingFile(std::unique_ptr<FSWritableFile> file, const bool* is_full)
        : FSWritableFileOwnerWrapper(std::move(file)), is_full_(is_full) {}
    IOStatus Append(const Slice& data, const IOOptions& options,
                    IODebugContext* debug) override {
      if (!*is_full_) return target()->Append(data, options, debug);
      const Slice half(data.data(), data.size() / 2);
      target()->Append(half, options, debug).PermitUncheckedError();
      return IOStatus::NoSpace("the test wants it");
    }

   private:
    const bool* const is_full_;
  };
};

class TieredLogTest : public testing::Test {
 protected:
  TieredLogTest() {
    char folder[] = "/tmp/sluice-log-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    std::filesystem::create_directories(folder_ + "/fast");
    std::filesystem::create_directories(folder_ + "/slow");
    logs_ = std::make_unique<LogFiles>(&files_, folder_ + "/fast",
                                       folder_ + "/slow");
    fast_path_ = folder_ + "/fast/000007.log";
    slow_path_ = logs_->SlowPath(7);
    MakeLog();
  }
  ~TieredLogTest() override {
    log_.reset();
    std::filesystem::remove_all(folder_);
  }

  void MakeLog() {
    log_.reset();
    std::unique_ptr<FSWritableFile> fast;
    ASSERT_TRUE(logs_->Make(fast_path_, FileOptions(), &fast).ok());
    log_ = std::make_unique<TieredLogWriter>(
        std::move(fast),
        std::make_unique<ChosenPlace>(logs_.get(), fast_path_, &tier_));
    written_.clear();
    synced_ = 0;
    synced_fast_ = synced_slow_ = 0;
  }
  void Append(Tier tier, const std::string& data) {
    tier_ = tier;
    ASSERT_TRUE(log_->Append(data, IOOptions(), nullptr).ok());
    written_ += data;
  }
  void Sync() {
    ASSERT_TRUE(log_->Sync(IOOptions(), nullptr).ok());
    synced_ = written_.size();
    synced_fast_ = SizeOf(fast_path_);
    synced_slow_ = SizeOf(slow_path_);
  }
  static uint64_t SizeOf(const std::string& path) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(path, ignored);
    return ignored ? 0 : size;
  }

  std::unique_ptr<TieredLogReader> Open() {
    std::unique_ptr<TieredLogReader> reader;
    const auto status = logs_->OpenForCopy(fast_path_, &reader);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return reader;
  }
  std::unique_ptr<FSSequentialFile> OpenAsStore() {
    std::unique_ptr<FSSequentialFile> reader;
    const auto status = logs_->OpenForStore(fast_path_, &reader);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return reader;
  }
  // All up to an end or an error, in reads of this size.
  static IOStatus ReadAll(FSSequentialFile* reader, size_t count,
                          std::string* read) {
    std::string scratch(count, '\0');
    for (;;) {
      Slice part;
      IOStatus status =
          reader->Read(count, IOOptions(), &part, scratch.data(), nullptr);
      read->append(part.data(), part.size());
      if (!status.ok() || part.empty()) return status;
    }
  }
  IOStatus ReadAll(std::string* read, size_t count = 1000) {
    return ReadAll(Open().get(), count, read);
  }

  std::string folder_;
  FillingFiles files_;
  std::unique_ptr<LogFiles> logs_;
  std::string fast_path_;
  std::string slow_path_;
  Tier tier_ = Tier::kFast;
  std::unique_ptr<FSWritableFile> log_;
  std::string written_;
  size_t synced_ = 0;
  uint64_t synced_fast_ = 0;
  uint64_t synced_slow_ = 0;
};

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  // From 0 up to and without `end`.
  uint64_t Below(uint64_t end) { return random_() % end; }
  std::string Text() {
    const bool is_large = Below(10) == 0;
    return std::string(1 + Below(is_large ? 300000 : 300),
                       static_cast<char>('a' + Below(26)));
  }
  Tier AnyTier() { return Below(2) == 0 ? Tier::kFast : Tier::kSlow; }

 private:
  std::mt19937 random_;
};

TEST_F(TieredLogTest, WhatWasAppendedIsRead) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Dice dice(seed);
    MakeLog();
    for (int i = 0; i < 40; ++i) {
      Append(dice.AnyTier(), dice.Text());
      if (dice.Below(5) == 0) Sync();
    }
    std::string read;
    EXPECT_TRUE(ReadAll(&read, 1 + dice.Below(100000)).ok());
    ASSERT_EQ(read, written_) << "seed " << seed;
    EXPECT_EQ(log_->GetFileSize(IOOptions(), nullptr), written_.size());
    uint64_t size = 0;
    EXPECT_TRUE(logs_->Size(fast_path_, &size).ok());
    EXPECT_EQ(size, written_.size());
  }
}

TEST_F(TieredLogTest, AReaderFollowsTheWriter) {
  Dice dice(1);
  Append(Tier::kFast, "first");
  const auto reader = OpenAsStore();
  std::string read;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(ReadAll(reader.get(), 777, &read).ok());
    ASSERT_EQ(read, written_);
    Append(dice.AnyTier(), dice.Text());
  }
}

TEST_F(TieredLogTest, PartsAreSkipped) {
  Append(Tier::kFast, "one");
  Append(Tier::kSlow, "two");
  Append(Tier::kFast, "three");
  const auto reader = Open();
  ASSERT_TRUE(reader->Skip(4).ok());
  std::string read;
  EXPECT_TRUE(ReadAll(reader.get(), 2, &read).ok());
  EXPECT_EQ(read, "wothree");
}

// A loss of power leaves of each file what was synced, and any part of the
// rest.
TEST_F(TieredLogTest, WhatWasNotSyncedMayBeLostAndNothingElse) {
  int holes = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    MakeLog();
    for (int i = 0; i < 20; ++i) {
      Append(dice.AnyTier(), dice.Text());
      if (dice.Below(4) == 0) Sync();
    }
    for (const auto& [path, synced] : {std::pair(fast_path_, synced_fast_),
                                       std::pair(slow_path_, synced_slow_)}) {
      const uint64_t least = std::max<uint64_t>(synced, kHeadBytes);
      const uint64_t size = SizeOf(path);
      if (size <= least) continue;
      std::filesystem::resize_file(path, least + dice.Below(size - least + 1));
    }
    std::string read;
    const IOStatus status = ReadAll(&read);
    EXPECT_FALSE(status.IsIOError()) << "seed " << seed << status.ToString();
    holes += status.IsCorruption();
    ASSERT_GE(read.size(), synced_) << "seed " << seed;
    ASSERT_EQ(read, written_.substr(0, read.size())) << "seed " << seed;
  }
  EXPECT_GT(holes, 0);
}

TEST_F(TieredLogTest, WithoutTheSlowTierALogIsNotRead) {
  Append(Tier::kFast, "one");
  Append(Tier::kSlow, "two");
  Sync();
  std::filesystem::remove(slow_path_);
  std::string read;
  EXPECT_TRUE(ReadAll(&read).IsIOError());
}

TEST_F(TieredLogTest, WhatTheSlowTierHasLostIsMissed) {
  Append(Tier::kSlow, "one");
  Append(Tier::kSlow, "two");
  Sync();
  Append(Tier::kFast, "three");
  std::filesystem::resize_file(slow_path_, SizeOf(slow_path_) - 1);
  std::string read;
  const IOStatus status = ReadAll(&read);
  EXPECT_EQ(read, "one");
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
}

TEST_F(TieredLogTest, ADamagedFrameIsNotTheEnd) {
  Append(Tier::kFast, "one");
  Append(Tier::kFast, std::string(1000, 'x'));
  log_.reset();
  std::filesystem::resize_file(fast_path_, SizeOf(fast_path_) - 1);
  std::filesystem::resize_file(fast_path_, SizeOf(fast_path_) + 1);
  std::string read;
  EXPECT_TRUE(ReadAll(&read).IsCorruption());
  EXPECT_EQ(read, "one");
}

TEST_F(TieredLogTest, WhatTheSlowTierDoesNotTakeTheFastOneDoes) {
  Append(Tier::kSlow, "one");
  files_.is_full = true;
  Append(Tier::kSlow, "two");
  files_.is_full = false;
  Append(Tier::kSlow, "three");
  Sync();
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "onetwothree");
}

TEST_F(TieredLogTest, ASlowTierThatIsFullFromTheBeginIsNotUsed) {
  files_.is_full = true;
  Append(Tier::kSlow, "one");
  Sync();
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "one");
}

TEST_F(TieredLogTest, ALogIsRemovedFromBothTiers) {
  Append(Tier::kSlow, "one");
  log_.reset();
  ASSERT_TRUE(logs_->Remove(fast_path_).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/fast"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/slow"));
}

TEST_F(TieredLogTest, ALogThatIsBeingRemovedIsRead) {
  Append(Tier::kSlow, "one");
  std::filesystem::rename(slow_path_, slow_path_ + ".obsolete");
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "one");
}

TEST_F(TieredLogTest, WhatCrashesLeaveIsSwept) {
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

TEST_F(TieredLogTest, PartsOfRemovedLogsAreSwept) {
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

TEST_F(TieredLogTest, ALogThatIsRemovedSlowlyLeavesNothing) {
  Append(Tier::kSlow, "one");
  log_.reset();
  ASSERT_TRUE(logs_->Rename(fast_path_, fast_path_ + ".trash").ok());
  EXPECT_FALSE(std::filesystem::exists(slow_path_));
}

// Any bytes, as a damaged device may give: an end or an error, no crash.
TEST_F(TieredLogTest, NoBytesMakeAReaderFail) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    MakeLog();
    for (int i = 0; i < 5; ++i) Append(dice.AnyTier(), dice.Text());
    log_.reset();
    std::string bytes;
    ASSERT_TRUE(ROCKSDB_NAMESPACE::ReadFileToString(FileSystem::Default().get(),
                                                    fast_path_, &bytes)
                    .ok());
    for (int i = 0; i < 3; ++i) {
      const size_t place = kHeadBytes + dice.Below(bytes.size() - kHeadBytes);
      bytes[place] = static_cast<char>(dice.Below(256));
    }
    ASSERT_TRUE(ROCKSDB_NAMESPACE::WriteStringToFile(
                    FileSystem::Default().get(), bytes, fast_path_)
                    .ok());
    std::string read;
    ReadAll(&read).PermitUncheckedError();
    ASSERT_EQ(read, written_.substr(0, read.size())) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice
