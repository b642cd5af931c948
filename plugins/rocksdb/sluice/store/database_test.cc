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
  Database database({"orders", folder_ + "/orders", true, nullptr, nullptr});
  database.Opened(db_.get());
  EXPECT_THROW(database.Use([](DB*) { throw std::runtime_error("no folder"); }),
               std::runtime_error);
  database.Shutdown();
  EXPECT_FALSE(database.Use([](DB*) {}));
}

}  // namespace
}  // namespace sluice
