// What holds for a database while the plug-in uses it, and when it closes.
#include "sluice/store/database.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DB;

class DatabaseTest : public OpenedStore {};

TEST_F(DatabaseTest, AUseThatThrowsDoesNotKeepItOpen) {
  Open();
  Database database({.name = "orders",
                     .path = folder_ + "/orders",
                     .pool = nullptr,
                     .write_buffers = nullptr,
                     .statistics = nullptr});
  database.Opened(db_.get());
  EXPECT_THROW(database.Use([](DB*) { throw std::runtime_error("no folder"); }),
               std::runtime_error);
  database.Shutdown();
  EXPECT_FALSE(database.Use([](DB*) {}));
}

// RocksDB itself takes them: nan for a bound that no number is above.
TEST_F(DatabaseTest, OptionsThatCannotBeUsedAreRefused) {
  for (const char* option :
       {"max_time_to_live_seconds=nan", "max_time_to_live_seconds=inf",
        "max_time_to_live_seconds=-1", "minimum_input_bytes=-1",
        "minimum_level=-1", "redirect_queue_requests=-1",
        "redirect_size_bytes=-1", "redirect_step_ratio=1.5", "latency=On",
        "database_name=a/b"}) {
    ROCKSDB_NAMESPACE::DBOptions parsed;
    const auto status = ROCKSDB_NAMESPACE::GetDBOptionsFromString(
        ROCKSDB_NAMESPACE::ConfigOptions(), ROCKSDB_NAMESPACE::DBOptions(),
        std::string("compaction_service={id=sluice;") + option + "}", &parsed);
    EXPECT_TRUE(status.IsInvalidArgument()) << option;
    EXPECT_NE(status.ToString().find("set it to "), std::string::npos)
        << status.ToString();
    EXPECT_EQ(parsed.compaction_service, nullptr);
  }
}

}  // namespace
}  // namespace sluice
