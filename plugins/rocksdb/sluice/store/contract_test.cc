// The checks of the local protocol that any plug-in is run through.
#include <gtest/gtest.h>

#include <cstdlib>

#include "sluice/child_process.h"
#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

using ContractTest = OpenedStore;

TEST_F(ContractTest, TheProtocolIsKept) {
  const char* const binary = std::getenv("SLUICE_BINARY");
  if (binary == nullptr) {
    GTEST_SKIP() << "name the program sluice in SLUICE_BINARY";
  }
  options_.max_write_buffer_number = 6;
  Open("remote=false;latency=on");
  AddFile(2000);
  AddFile(2000);
  ChildProcess check({binary, "local", "check", "--patience", "2m",
                      folder_ + "/rocksdb/main.sock"});
  std::string output;
  while (const auto line = check.ReadLine()) output += *line + "\n";
  EXPECT_EQ(check.Wait(), 0) << output;
  ExpectAllThere();
}

}  // namespace
}  // namespace sluice
