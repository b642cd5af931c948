// A database's folder on the slow tier has one user.
#include "sluice/log/slow_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::IOStatus;

class SlowFolderTest : public testing::Test {
 protected:
  SlowFolderTest() {
    char folder[] = "/tmp/sluice-folder-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
  }
  ~SlowFolderTest() override { std::filesystem::remove_all(folder_); }

  void Identify(const std::string& database, const std::string& text) {
    std::ofstream(folder_ + "/" + database) << text;
  }
  SlowFolder Of(const std::string& database) {
    return SlowFolder(FileSystem::Default().get(), folder_ + "/logs",
                      folder_ + "/" + database);
  }

  std::string folder_;
};

TEST_F(SlowFolderTest, IsMadeAndHasOneUserAtATime) {
  SlowFolder first = Of("orders");
  ASSERT_TRUE(first.Claim().ok());
  SlowFolder second = Of("orders");
  EXPECT_TRUE(second.Claim().IsIOError());
  first.Release();
  EXPECT_TRUE(second.Claim().ok());
}

TEST_F(SlowFolderTest, IsOfOneDatabase) {
  Identify("orders", "a-b-c\n");
  Identify("other", "d-e-f\n");
  {
    SlowFolder orders = Of("orders");
    ASSERT_TRUE(orders.Claim().ok());
    ASSERT_TRUE(orders.WriteOwner().ok());
  }
  SlowFolder other = Of("other");
  const IOStatus status = other.Claim();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_NE(status.ToString().find("a-b-c"), std::string::npos)
      << status.ToString();
  EXPECT_TRUE(Of("orders").Claim().ok());
}

// RocksDB names it when it is opened for the first time.
TEST_F(SlowFolderTest, IsOfANewDatabaseOnceThatHasAName) {
  {
    SlowFolder orders = Of("orders");
    ASSERT_TRUE(orders.Claim().ok());
    ASSERT_TRUE(orders.WriteOwner().ok());
    Identify("orders", "a-b-c\n");
    ASSERT_TRUE(orders.WriteOwner().ok());
  }
  Identify("other", "d-e-f\n");
  EXPECT_TRUE(Of("other").Claim().IsIOError());
}

TEST_F(SlowFolderTest, HasANameThatNoOtherPathHas) {
  EXPECT_EQ(SlowFolderName("/data/a%2Fb"), "%2Fdata%2Fa%252Fb");
  EXPECT_NE(SlowFolderName("/data/a/b"), SlowFolderName("/data/a%2Fb"));
}

TEST_F(SlowFolderTest, ThatCannotBeMadeIsAnError) {
  std::ofstream(folder_ + "/logs") << "a file";
  EXPECT_FALSE(Of("orders").Claim().ok());
}

}  // namespace
}  // namespace sluice
