#include "sluice/remote/output_folder.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace {
int group_lookups = 0;
}  // namespace

// In the place of that of the C library: no group is there.
extern "C" int getgrnam_r(const char*, group*, char*, size_t, group** found) {
  ++group_lookups;
  *found = nullptr;
  return 0;
}

namespace sluice {
namespace {

namespace fs = std::filesystem;

class OutputFolderTest : public testing::Test {
 protected:
  OutputFolderTest() {
    char folder[] = "/tmp/sluice-output-test-XXXXXX";
    parent_ = ::mkdtemp(folder);
    path_ = OutputFolderPath(parent_, "j1");
  }
  ~OutputFolderTest() override { fs::remove_all(parent_); }

  static void Touch(const std::string& path) { std::ofstream(path) << "x"; }
  static mode_t ModeOf(const std::string& path) {
    struct stat status = {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777;
  }

  std::string parent_;
  std::string path_;
};

TEST_F(OutputFolderTest, IsMadeOnceForTheGroup) {
  EXPECT_TRUE(MakeOutputFolder(path_));
  EXPECT_EQ(ModeOf(path_) & 0777, 0770u);
  EXPECT_FALSE(MakeOutputFolder(path_));
}

TEST_F(OutputFolderTest, TheGroupIsLookedUpOnce) {
  EXPECT_TRUE(MakeOutputFolder(path_));
  EXPECT_TRUE(MakeOutputFolder(OutputFolderPath(parent_, "j2")));
  EXPECT_EQ(group_lookups, 1);
}

TEST_F(OutputFolderTest, IsRemovedWithWhatAnEarlierRemovalHasLeft) {
  MakeOutputFolder(path_);
  Touch(path_ + "/1.sst");
  fs::create_directory(path_ + ".gone");
  Touch(path_ + ".gone/2.sst");
  RemoveOutputFolder(path_);
  EXPECT_TRUE(fs::is_empty(parent_));
}

// It has the folder open, and does not know of its end.
TEST_F(OutputFolderTest, ALateWorkerPutsNothingIntoTheNextOne) {
  MakeOutputFolder(path_);
  const int late = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY);
  RemoveOutputFolder(path_);
  MakeOutputFolder(path_);
  EXPECT_LT(::openat(late, "1.sst", O_WRONLY | O_CREAT, 0600), 0);
  EXPECT_TRUE(fs::is_empty(path_));
  ::close(late);
}

// In many rounds: few have a file made between the last look and the removal.
TEST_F(OutputFolderTest, IsRemovedWhileALateWorkerMakesFiles) {
  constexpr int kRounds = 100;
  constexpr int kFiles = 200;
  for (int round = 0; round < kRounds; ++round) {
    MakeOutputFolder(path_);
    const int late = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY);
    std::thread worker([late] {
      for (int i = 0; i < kFiles; ++i) {
        const std::string name = std::to_string(i) + ".sst";
        const int file = ::openat(late, name.c_str(), O_WRONLY | O_CREAT, 0600);
        if (file < 0) return;
        ::close(file);
      }
    });
    RemoveOutputFolder(path_);
    worker.join();
    ::close(late);
    ASSERT_TRUE(fs::is_empty(parent_));
  }
}

TEST_F(OutputFolderTest, NothingElseIsRemoved) {
  const std::string other = parent_ + "/other";
  fs::create_directory(other);
  RemoveOutputFolder(other);
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(OutputFolderTest, WhatIsLeftIsRemovedUnlessItIsInUse) {
  const std::string left = OutputFolderPath(parent_, "j2");
  MakeOutputFolder(path_);
  MakeOutputFolder(left);
  fs::create_directory(left + ".gone");
  RemoveLeftOutputFolders(
      parent_, [this](const std::string& each) { return each == path_; });
  EXPECT_TRUE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(left + ".gone"));
}

TEST_F(OutputFolderTest, FilesAreTheStoresToReadAndToLink) {
  MakeOutputFolder(path_);
  Touch(path_ + "/1.sst");
  ::chmod((path_ + "/1.sst").c_str(), 0600);
  const std::string outside = parent_ + "/outside";
  Touch(outside);
  ::chmod(outside.c_str(), 0600);
  fs::create_symlink(outside, path_ + "/2.sst");
  ShareWithStore(path_);
  EXPECT_EQ(ModeOf(path_ + "/1.sst"), 0660u);
  EXPECT_EQ(ModeOf(outside), 0600u);
}

// As where the store is not in the group, or the file system has no such bit.
TEST_F(OutputFolderTest, WithoutTheBitFilesGetTheGroupAndCanBeRead) {
  constexpr gid_t kOther = 12345;
  if (::geteuid() != 0) GTEST_SKIP() << "needs the right to give groups";
  MakeOutputFolder(path_);
  Touch(path_ + "/1.sst");
  ASSERT_EQ(::chown(path_.c_str(), static_cast<uid_t>(-1), kOther), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0770), 0);
  ShareWithStore(path_);
  struct stat status;
  ASSERT_EQ(::stat((path_ + "/1.sst").c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, kOther);
  EXPECT_EQ(status.st_mode & 07777, 0664u);
}

}  // namespace
}  // namespace sluice
