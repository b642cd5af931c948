#include "sluice/worker/opened_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace sluice {
namespace {

namespace fs = std::filesystem;

class OpenedFolderTest : public testing::Test {
 protected:
  OpenedFolderTest() {
    char folder[] = "/tmp/sluice-folder-test-XXXXXX";
    // Without links, as the agent gives it.
    root_ = fs::canonical(::mkdtemp(folder)).string();
    fs::create_directories(root_ + "/db/output");
    fs::create_directories(root_ + "/victim/output");
  }
  ~OpenedFolderTest() override { fs::remove_all(root_); }

  // What a store's process could do at any time.
  void ExchangeForLink(const std::string& name) {
    fs::rename(root_ + name, root_ + "/moved");
    fs::create_symlink(root_ + "/victim", root_ + name);
  }
  static void Write(const OpenedFolder& folder) {
    std::ofstream(folder.path() + "/000001.sst") << "data";
  }

  std::string root_;
};

TEST_F(OpenedFolderTest, ItIsTheFolderOfThePath) {
  const auto folder = OpenedFolder::Checked(root_ + "/db/output");
  ASSERT_TRUE(folder.IsOpen());
  EXPECT_TRUE(fs::is_directory(folder.path()));
  Write(folder);
  EXPECT_TRUE(fs::exists(root_ + "/db/output/000001.sst"));
}

TEST_F(OpenedFolderTest, ALinkBeforeTheOpenIsRefused) {
  ExchangeForLink("/db");
  EXPECT_FALSE(OpenedFolder::Checked(root_ + "/db").IsOpen());
  EXPECT_FALSE(OpenedFolder::Checked(root_ + "/db/output").IsOpen());
  EXPECT_TRUE(OpenedFolder::Unchecked(root_ + "/db/output").IsOpen());
}

TEST_F(OpenedFolderTest, ALinkAfterTheOpenLeadsNowhere) {
  const auto checked = OpenedFolder::Checked(root_ + "/db/output");
  const auto unchecked = OpenedFolder::Unchecked(root_ + "/db/output");
  ExchangeForLink("/db");
  for (const auto* folder : {&checked, &unchecked}) {
    Write(*folder);
    EXPECT_TRUE(fs::is_empty(root_ + "/victim/output"));
    EXPECT_TRUE(fs::remove(root_ + "/moved/output/000001.sst"));
  }
}

TEST_F(OpenedFolderTest, WhatIsNoFolderIsRefused) {
  std::ofstream(root_ + "/file") << "data";
  for (const char* name : {"/file", "/file/output", "/gone"}) {
    EXPECT_FALSE(OpenedFolder::Checked(root_ + name).IsOpen()) << name;
    EXPECT_FALSE(OpenedFolder::Unchecked(root_ + name).IsOpen()) << name;
  }
}

}  // namespace
}  // namespace sluice
