#include "sluice/pool/pool_path.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(PoolPath, IsTheShortestForm) {
  EXPECT_EQ(PoolPath("/"), "/");
  EXPECT_EQ(PoolPath(""), "/");
  EXPECT_EQ(PoolPath("//db//CURRENT"), "/db/CURRENT");
  EXPECT_EQ(PoolPath("/db/./000001.sst/"), "/db/000001.sst");
  EXPECT_EQ(PoolPath("db"), "/db");
  EXPECT_EQ(PoolPath("/.sluice"), "/.sluice");
}

TEST(PoolPath, IsBelowAFolder) {
  EXPECT_TRUE(IsBelow("/wal/1.log", "/wal"));
  EXPECT_TRUE(IsBelow("/wal", "/wal/"));
  EXPECT_TRUE(IsBelow("/db", "/"));
  EXPECT_FALSE(IsBelow("/wall/1.log", "/wal"));
  EXPECT_FALSE(IsBelow("/db", ""));
}

}  // namespace
}  // namespace sluice
