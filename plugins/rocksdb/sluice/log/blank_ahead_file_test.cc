#include "sluice/log/blank_ahead_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSRandomRWFile;
using ROCKSDB_NAMESPACE::FSRandomRWFileOwnerWrapper;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

const std::string kHead = "head";
constexpr uint64_t kBlankBytes = BlankAheadFile::kBlankBytes;

// Has room for so many bytes, and takes what fits of a write that fails.
class FileOnFullDisk : public FSRandomRWFileOwnerWrapper {
 public:
  FileOnFullDisk(std::unique_ptr<FSRandomRWFile> file, const uint64_t* room)
      : FSRandomRWFileOwnerWrapper(std::move(file)), room_(room) {}
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* debug) override {
    const uint64_t left = *room_ - std::min(*room_, offset);
    if (data.size() <= left) {
      return FSRandomRWFileOwnerWrapper::Write(offset, data, options, debug);
    }
    const Slice part(data.data(), left);
    FSRandomRWFileOwnerWrapper::Write(offset, part, options, debug)
        .PermitUncheckedError();
    return IOStatus::NoSpace("the test wants it");
  }

 private:
  const uint64_t* const room_;
};

class BlankAheadFileTest : public testing::Test {
 protected:
  BlankAheadFileTest() {
    char folder[] = "/tmp/sluice-log-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    path_ = folder_ + "/file";
    EXPECT_TRUE(
        ROCKSDB_NAMESPACE::WriteStringToFile(files(), kHead, path_).ok());
    std::unique_ptr<FSRandomRWFile> file;
    EXPECT_TRUE(
        files()->NewRandomRWFile(path_, FileOptions(), &file, nullptr).ok());
    file_ = std::make_unique<BlankAheadFile>(
        std::make_unique<FileOnFullDisk>(std::move(file), &room_),
        kHead.size());
  }
  ~BlankAheadFileTest() override { std::filesystem::remove_all(folder_); }

  static FileSystem* files() { return FileSystem::Default().get(); }
  IOStatus Append(const std::string& data) {
    return file_->Append(data, IOOptions(), nullptr);
  }
  // What is there, without the blank end, whose length is the second.
  std::pair<std::string, uint64_t> Read() {
    std::string bytes;
    EXPECT_TRUE(
        ROCKSDB_NAMESPACE::ReadFileToString(files(), path_, &bytes).ok());
    const size_t end = bytes.find_last_not_of('\0') + 1;
    return {bytes.substr(0, end), bytes.size() - end};
  }

  std::string folder_;
  std::string path_;
  uint64_t room_ = UINT64_MAX;
  std::unique_ptr<BlankAheadFile> file_;
};

using Content = std::pair<std::string, uint64_t>;

TEST_F(BlankAheadFileTest, WhatIsAppendedTakesThePlaceOfBlankSpace) {
  EXPECT_EQ(Read(), Content(kHead, 0));
  ASSERT_TRUE(Append("one").ok());
  EXPECT_EQ(Read(), Content("headone", kBlankBytes));
  ASSERT_TRUE(Append("two").ok());
  EXPECT_EQ(Read(), Content("headonetwo", kBlankBytes - 3));
  EXPECT_EQ(file_->GetFileSize(IOOptions(), nullptr), 10);
  ASSERT_TRUE(file_->Sync(IOOptions(), nullptr).ok());
  ASSERT_TRUE(file_->Close(IOOptions(), nullptr).ok());
}

TEST_F(BlankAheadFileTest, ThereIsMoreWhenItIsUsedUp) {
  ASSERT_TRUE(Append("one").ok());
  ASSERT_TRUE(Append(std::string(kBlankBytes, 'x')).ok());
  EXPECT_EQ(Read().second, 0);
  ASSERT_TRUE(Append("y").ok());
  EXPECT_EQ(Read(), Content("headone" + std::string(kBlankBytes, 'x') + "y",
                            kBlankBytes));
}

TEST_F(BlankAheadFileTest, WhatIsCutOffIsBlankAgain) {
  ASSERT_TRUE(Append("one").ok());
  ASSERT_TRUE(Append("two").ok());
  ASSERT_TRUE(file_->Truncate(7, IOOptions(), nullptr).ok());
  EXPECT_EQ(Read(), Content("headone", kBlankBytes));
  ASSERT_TRUE(Append("three").ok());
  EXPECT_EQ(Read(), Content("headonethree", kBlankBytes - 5));
}

TEST_F(BlankAheadFileTest, WithoutRoomForBlankSpaceItIsAppendedTo) {
  room_ = 10;
  ASSERT_TRUE(Append("one").ok());
  EXPECT_EQ(Read(), Content("headone", 3));
  ASSERT_TRUE(Append("two").ok());
  EXPECT_TRUE(Append("x").IsNoSpace());
  EXPECT_EQ(Read(), Content("headonetwo", 0));
}

TEST_F(BlankAheadFileTest, APartOfAnAppendThatFailedIsCutOff) {
  room_ = 10;
  ASSERT_TRUE(Append("one").ok());
  EXPECT_TRUE(Append("twothree").IsNoSpace());
  EXPECT_EQ(Read(), Content("headonetwo", 0));
  file_->Truncate(7, IOOptions(), nullptr).PermitUncheckedError();
  EXPECT_EQ(Read(), Content("headone", 3));
}

}  // namespace
}  // namespace sluice
