// What becomes of a database with blob files that has a compaction service. On
// a stock build, which the environment says, the service is asked, its result
// knows nothing of blob files, and values are lost.

#include <gtest/gtest.h>

#include "compaction_services.h"
#include "test_database.h"

namespace hooks_test {
namespace {

bool Mended() { return getenv("SLUICE_STOCK") == nullptr; }

class BlobFiles : public testing::Test {
 protected:
  void OpenWithService() {
    database_.options.compaction_service = service_;
    database_.options.disable_auto_compactions = true;
    database_.options.enable_blob_files = true;
    database_.Open();
  }

  // Rows that can be read after all files were compacted into one.
  int RowsAfterCompaction() {
    EXPECT_EQ(TestDatabase::kKeysPerFile, database_.CountRows());
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    const Status status = database_.db->CompactRange(all, nullptr, nullptr);
    return status.ok() ? database_.CountRows() : -1;
  }

  std::shared_ptr<InProcessService> service_ =
      std::make_shared<InProcessService>();
  TestDatabase database_;
};

TEST_F(BlobFiles, AreLostOnlyWithoutTheGuard) {
  OpenWithService();
  database_.WriteFiles(4);
  const int rows = RowsAfterCompaction();
  EXPECT_EQ(Mended(), rows == TestDatabase::kKeysPerFile) << rows << " rows";
  EXPECT_EQ(Mended(), service_->scheduled() == 0);
}

TEST_F(BlobFiles, AreLostOnlyWithoutTheGuardWhenNoNewOnesAreMade) {
  OpenWithService();
  database_.WriteFiles(2);
  Require(database_.db->SetOptions({{"enable_blob_files", "false"}}));
  const int rows = RowsAfterCompaction();
  EXPECT_EQ(Mended(), rows == TestDatabase::kKeysPerFile) << rows << " rows";
  EXPECT_EQ(Mended(), service_->scheduled() == 0);
}

TEST_F(BlobFiles, OfNoneADatabaseGoesToTheServiceAndStaysWhole) {
  database_.options.compaction_service = service_;
  database_.options.disable_auto_compactions = true;
  database_.Open();
  database_.WriteFiles(4);
  EXPECT_EQ(TestDatabase::kKeysPerFile, RowsAfterCompaction());
  EXPECT_GE(service_->scheduled(), 1);
}

}  // namespace
}  // namespace hooks_test
