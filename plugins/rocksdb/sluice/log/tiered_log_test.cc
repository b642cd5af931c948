// A log on two tiers: what was appended is read, whatever was lost that was
// not synced, and what was synced is never missed in silence.
#include <algorithm>
#include <utility>

#include "sluice/log/tiered_log_fixture.h"

namespace sluice {
namespace {

constexpr uint64_t kSectorBytes = 512;

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

// The file that it reads has the begin of the log alone, and that on the slow
// tier is gone before it was looked for.
TEST_F(TieredLogTest, AReaderFollowsALogThatIsMergedMeanwhile) {
  Append(Tier::kFast, "one");
  const auto reader = OpenAsStore();
  std::string read;
  ASSERT_TRUE(ReadAll(reader.get(), 777, &read).ok());
  Append(Tier::kSlow, "two");
  Append(Tier::kFast, "three");
  log_.reset();
  const LogId id = NewLogId();
  std::string merged = FastHead(id);
  AppendFrame(LogFrame(), id, written_, &merged);
  const std::string path = fast_path_ + ".merged";
  ASSERT_TRUE(ROCKSDB_NAMESPACE::WriteStringToFile(&files_, merged, path).ok());
  bool was_there = false;
  ASSERT_TRUE(logs_->Replace(fast_path_, path, &was_there).ok());
  EXPECT_FALSE(std::filesystem::exists(slow_path_));
  const IOStatus status = ReadAll(reader.get(), 777, &read);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(read, "onetwothree");
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

// Any number of those that were written to from there on, whatever their order.
void LoseSectors(const std::string& path, uint64_t begin, Dice* dice) {
  const uint64_t end = WrittenBytes(path);
  const uint64_t lost_one_in = 1 + dice->Below(200);
  while (begin < end) {
    const uint64_t next =
        std::min(end, (begin / kSectorBytes + 1) * kSectorBytes);
    if (dice->Below(lost_one_in) == 0) Spoil(path, begin, next - begin, '\0');
    begin = next;
  }
}

// A loss of power leaves of each file what was synced, and of the rest, on the
// fast tier, a beginning, and on the slow one, any sectors.
TEST_F(TieredLogTest, WhatWasNotSyncedMayBeLostAndNothingElse) {
  int holes = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    MakeLog();
    if (dice.Below(2) == 0) MakeSlowAhead();
    for (int i = 0; i < 20; ++i) {
      Append(dice.AnyTier(), dice.Text());
      if (dice.Below(4) == 0) Sync();
    }
    const uint64_t least = std::max<uint64_t>(synced_fast_, kHeadBytes);
    const uint64_t size = SizeOf(fast_path_);
    std::filesystem::resize_file(fast_path_,
                                 least + dice.Below(size - least + 1));
    LoseSectors(slow_path_, std::max<uint64_t>(synced_slow_, kHeadBytes),
                &dice);
    std::string read;
    const IOStatus status = ReadAll(&read);
    EXPECT_FALSE(status.IsIOError()) << "seed " << seed << status.ToString();
    holes += status.IsCorruption();
    ASSERT_GE(read.size(), synced_) << "seed " << seed;
    ASSERT_EQ(read, written_.substr(0, read.size())) << "seed " << seed;
  }
  EXPECT_GT(holes, 0);
}

// A redirected write would wait for what the fast tier has to do.
TEST_F(TieredLogTest, WithASlowPartMadeAheadTheFastTierIsLeftAlone) {
  MakeSlowAhead();
  const uint64_t fast_bytes = SizeOf(fast_path_);
  Append(Tier::kSlow, "one");
  Sync();
  EXPECT_EQ(SizeOf(fast_path_), fast_bytes);
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "one");
}

TEST_F(TieredLogTest, ALogWithASlowPartThatNothingWasWrittenToIsRead) {
  MakeSlowAhead();
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "");
  Append(Tier::kFast, "one");
  Sync();
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "one");
}

TEST_F(TieredLogTest, ASlowTierThatTakesNoPartAheadIsNotUsed) {
  files_.is_full = true;
  ASSERT_TRUE(log_->MakeSlowAhead().ok());
  files_.is_full = false;
  Append(Tier::kSlow, "one");
  Sync();
  EXPECT_EQ(WrittenBytes(slow_path_), kHeadBytes / 2);
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "one");
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
  std::filesystem::resize_file(slow_path_, WrittenBytes(slow_path_) - 1);
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

// Whatever is in its place, and also where that looks like space that was
// allocated and not used.
TEST_F(TieredLogTest, AFrameThatIsLostAmongOthersIsMissed) {
  for (const bool is_synced : {true, false}) {
    for (const char with : {'\0', 'x'}) {
      MakeLog();
      Append(Tier::kFast, "one");
      Sync();
      const uint64_t place = SizeOf(fast_path_);
      Append(Tier::kFast, "two");
      if (is_synced) Sync();
      Append(Tier::kFast, "three");
      Append(Tier::kFast, "four");
      Spoil(place, kFrameHeaderBytes + 3, with);
      std::string read;
      const IOStatus status = ReadAll(&read);
      EXPECT_EQ(read, "one");
      EXPECT_TRUE(is_synced ? status.IsIOError() : status.IsCorruption())
          << status.ToString();
    }
  }
}

TEST_F(TieredLogTest, BlankSpaceAtTheEndIsTheEnd) {
  Append(Tier::kFast, "one");
  log_.reset();
  std::filesystem::resize_file(fast_path_, SizeOf(fast_path_) + 1000000);
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "one");
}

// As where two databases of one path share a slow disk.
TEST_F(TieredLogTest, AFileOfAnotherLogIsNotTakenForAPartOfThisOne) {
  Append(Tier::kSlow, "foreign");
  Sync();
  std::filesystem::copy(slow_path_, folder_ + "/foreign");
  for (const Tier tier : {Tier::kSlow, Tier::kFast}) {
    MakeLog();
    Append(tier, "own");
    Sync();
    std::filesystem::copy_file(
        folder_ + "/foreign", slow_path_,
        std::filesystem::copy_options::overwrite_existing);
    std::string read;
    const IOStatus status = ReadAll(&read);
    EXPECT_EQ(status.IsIOError(), tier == Tier::kSlow) << status.ToString();
    EXPECT_EQ(read, tier == Tier::kSlow ? "" : "own");
  }
}

TEST_F(TieredLogTest, ADamagedHeadIsTold) {
  Append(Tier::kFast, "one");
  log_.reset();
  Spoil(kHeadBytes - 12, 1, 'x');
  bool is_tiered = false;
  EXPECT_TRUE(logs_->IsTiered(fast_path_, &is_tiered).ok());
  EXPECT_TRUE(is_tiered);
  std::unique_ptr<TieredLogReader> reader;
  EXPECT_TRUE(logs_->OpenForCopy(fast_path_, &reader).IsIOError());
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

// RocksDB goes on with a log that has failed, where paranoid_checks are off.
TEST_F(TieredLogTest, NothingIsRedirectedBeforeTheFastTierWasToldOfIt) {
  tier_ = Tier::kSlow;
  files_.is_fast_full = true;
  EXPECT_FALSE(log_->Append("lost", IOOptions(), nullptr).ok());
  EXPECT_FALSE(log_->Append("lost", IOOptions(), nullptr).ok());
  files_.is_fast_full = false;
  Append(Tier::kSlow, "one");
  Sync();
  std::string read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_EQ(read, "one");
  std::filesystem::remove(slow_path_);
  EXPECT_TRUE(ReadAll(&read).IsIOError());
}

// A page of the writer's may be seen before the one that comes before it.
TEST_F(TieredLogTest, AFrameThatIsBeingWrittenIsTheEndForAReaderThatFollows) {
  Append(Tier::kSlow, "one");
  const uint64_t place = WrittenBytes(slow_path_);
  const std::string data(20000, 'x');
  Append(Tier::kSlow, data);
  std::string whole;
  ASSERT_TRUE(ROCKSDB_NAMESPACE::ReadFileToString(FileSystem::Default().get(),
                                                  slow_path_, &whole)
                  .ok());
  for (const uint64_t begin : {place, place + 10, place + 5000}) {
    sluice::Spoil(slow_path_, begin, 4096, '\0');
    const auto reader = OpenAsStore();
    std::string read;
    IOStatus status = ReadAll(reader.get(), 777, &read);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(read, "one");
    ASSERT_TRUE(ROCKSDB_NAMESPACE::WriteStringToFile(
                    FileSystem::Default().get(), whole, slow_path_)
                    .ok());
    status = ReadAll(reader.get(), 777, &read);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(read, "one" + data);
  }
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
