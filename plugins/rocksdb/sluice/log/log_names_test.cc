#include "sluice/log/log_names.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IOStatus;

class LogNamesTest : public testing::Test {
 protected:
  void Sync() {
    EXPECT_TRUE(names_.Sync([] { return IOStatus::OK(); }).ok());
  }
  bool IsSynced(const IOStatus& result = IOStatus::OK()) {
    bool is_synced = false;
    const IOStatus status = names_.SyncNeeded([&] {
      is_synced = true;
      return result;
    });
    EXPECT_EQ(status.ok(), !is_synced || result.ok());
    return is_synced;
  }
  bool IsPromisedSynced(uint64_t number,
                        const IOStatus& result = IOStatus::OK()) {
    bool is_synced = false;
    const IOStatus status = names_.SyncPromised(number, [&] {
      is_synced = true;
      return result;
    });
    EXPECT_EQ(status.ok(), !is_synced || result.ok());
    return is_synced;
  }
  LogNames names_;
};

TEST_F(LogNamesTest, TheNameOfALogThatWasBegunIsNeeded) {
  names_.Made(7);
  EXPECT_FALSE(IsSynced());
  names_.Begun(7);
  EXPECT_TRUE(IsSynced());
  EXPECT_FALSE(IsSynced());
}

TEST_F(LogNamesTest, WhatWasSyncedBeforeIsNotSyncedAgainForTheNextOne) {
  names_.Made(7);
  Sync();
  names_.Made(8);
  names_.Begun(7);
  EXPECT_FALSE(IsSynced());
  names_.Begun(8);
  EXPECT_TRUE(IsSynced());
}

TEST_F(LogNamesTest, ANameThatTheStoreTakesForSyncedIsSyncedOnce) {
  names_.Made(7);
  EXPECT_FALSE(IsPromisedSynced(7));
  EXPECT_FALSE(IsSynced());
  EXPECT_TRUE(IsPromisedSynced(7, IOStatus::IOError("the test wants it")));
  EXPECT_TRUE(IsPromisedSynced(7));
  EXPECT_FALSE(IsPromisedSynced(7));
  // The store has not asked since.
  names_.Made(8);
  EXPECT_FALSE(IsPromisedSynced(8));
}

TEST_F(LogNamesTest, AfterASyncThatFailedItIsStillNeeded) {
  names_.Made(7);
  names_.Begun(7);
  EXPECT_TRUE(IsSynced(IOStatus::IOError("the test wants it")));
  EXPECT_TRUE(IsSynced());
}

TEST_F(LogNamesTest, ALogThatIsMadeDuringASyncIsNotCoveredByIt) {
  names_.Made(7);
  EXPECT_TRUE(names_
                  .Sync([this] {
                    names_.Made(8);
                    return IOStatus::OK();
                  })
                  .ok());
  names_.Begun(8);
  EXPECT_TRUE(IsSynced());
}

TEST_F(LogNamesTest, ANumberThatComesAgainNeedsItsNameAgain) {
  names_.Made(7);
  Sync();
  names_.Made(7);
  names_.Begun(7);
  EXPECT_TRUE(IsSynced());
}

TEST_F(LogNamesTest, TheNameOfAnythingElseIsNeededAtOnce) {
  names_.MadeOther();
  EXPECT_TRUE(IsSynced(IOStatus::IOError("the test wants it")));
  EXPECT_TRUE(IsSynced());
  EXPECT_FALSE(IsSynced());
}

TEST_F(LogNamesTest, SomethingElseThatIsMadeDuringASyncIsNotCoveredByIt) {
  EXPECT_TRUE(names_
                  .Sync([this] {
                    names_.MadeOther();
                    return IOStatus::OK();
                  })
                  .ok());
  EXPECT_TRUE(IsSynced());
}

TEST_F(LogNamesTest, TheNameOfALogThatWasRemovedIsNotNeeded) {
  names_.Made(7);
  names_.Begun(7);
  names_.Removed(7);
  EXPECT_FALSE(IsSynced());
}

}  // namespace
}  // namespace sluice
