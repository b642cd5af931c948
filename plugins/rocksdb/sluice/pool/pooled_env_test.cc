// Which files the plug-in takes for those of a pool.
#include "sluice/pool/pooled_env.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;

class Wrapper : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "Wrapper"; }
};

PoolOptions WithLocalFolder() {
  PoolOptions options;
  options.volume = "orders";
  options.local_directory = "/var/log/orders";
  return options;
}

TEST(PooledEnvTest, APathIsInAPoolOrOnThisNode) {
  PoolFileSystem pool(WithLocalFolder());
  EXPECT_EQ(PoolOf("/orders", &pool, false), &pool);
  EXPECT_EQ(PoolOf("/var/log/orders/db", &pool, true), nullptr);
  EXPECT_EQ(PoolOf("/orders", FileSystem::Default().get(), true), nullptr);
}

TEST(PooledEnvTest, WhatIsAroundAPoolHasToBePlain) {
  const auto pool = std::make_shared<PoolFileSystem>(WithLocalFolder());
  Wrapper wrapper(pool);
  EXPECT_EQ(PoolOf("/orders", &wrapper, false), nullptr);
  EXPECT_EQ(PoolOf("/orders", &wrapper, true), pool.get());
}

}  // namespace
}  // namespace sluice
