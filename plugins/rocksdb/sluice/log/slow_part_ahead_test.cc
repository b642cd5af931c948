// Databases whose logs have their part on the slow tier before anything is
// redirected.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "sluice/log/log_files.h"
#include "sluice/log/slow_folder.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::WalFile;

class SlowPartAheadTest : public OpenedStore {
 protected:
  SlowPartAheadTest() : slow_(folder_ + "/slow") {
    std::filesystem::create_directory(slow_);
  }

  void OpenOnTwoTiers() { Open("remote=false;wal_slow_directory=" + slow_); }
  void Order(const char* tier) {
    Set("log-placement", "", {{"name", "tier"}, {"text", tier}});
  }
  // The next write goes to another log then.
  void ChangeLog() { ASSERT_TRUE(db_->Flush(FlushOptions()).ok()); }
  bool HasSlowPart() {
    std::unique_ptr<WalFile> log;
    EXPECT_TRUE(db_->GetCurrentWalFile(&log).ok());
    const std::string database = folder_ + "/orders";
    const LogFiles files(nullptr, database,
                         slow_ + "/" + SlowFolderName(database));
    return std::filesystem::exists(files.SlowPath(log->LogNumber()));
  }

  const std::string slow_;
};

TEST_F(SlowPartAheadTest, ALogThatIsMadeWhileWritesAreRedirectedHasIt) {
  OpenOnTwoTiers();
  Put(1);
  ChangeLog();
  EXPECT_FALSE(HasSlowPart());
  Order("slow");
  Put(2);
  ChangeLog();
  EXPECT_TRUE(HasSlowPart());
  Order("fast");
  Put(3);
  ChangeLog();
  EXPECT_FALSE(HasSlowPart());
  db_.reset();
  OpenOnTwoTiers();
  ExpectAllThere();
}

// The store makes each one while the one before is written.
TEST_F(SlowPartAheadTest, LogsThatTheStoreMakesAheadAreRecovered) {
  options_.async_wal_precreate = true;
  for (int key = 0; key < 20; ++key) {
    OpenOnTwoTiers();
    Order("slow");
    Put(2 * key);
    ChangeLog();
    Put(2 * key + 1);
    db_.reset();
  }
  OpenOnTwoTiers();
  ExpectAllThere();
}

}  // namespace
}  // namespace sluice
