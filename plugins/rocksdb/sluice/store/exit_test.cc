// What becomes of a process that ends with its database open.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "sluice/store/opened_store.h"

namespace sluice {
namespace {

constexpr char kFolder[] = "SLUICE_EXIT_TEST_FOLDER";
// Less than an order lasts.
constexpr unsigned kLongestSeconds = 240;

struct Ordered {
  const char* kind;
  Json setting;
  const char* state;
};

// The test runs twice: one process waits for the other, which exits with all
// that it has in the folder of the first.
class ExitTest : public OpenedStore,
                 public testing::WithParamInterface<Ordered> {
 protected:
  ExitTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const char* const folder = ::getenv(kFolder);
    if (folder == nullptr) {
      ::setenv(kFolder, folder_.c_str(), 1);
      return;
    }
    std::filesystem::remove(folder_);
    folder_ = folder;
  }
  ~ExitTest() override { ::unsetenv(kFolder); }

  [[noreturn]] void ExitWhileOrdersBind() {
    ::alarm(kLongestSeconds);
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_write_buffer_number = 6;
    Open();
    AddFile(2000);
    Call("set", {{"kind", GetParam().kind},
                 {"scope", ""},
                 {"setting", GetParam().setting},
                 {"owner", "test"},
                 {"time_to_live_seconds", 600}});
    for (int i = 0; i < 2000; ++i) Put(i);
    ROCKSDB_NAMESPACE::FlushOptions no_wait;
    no_wait.wait = false;
    EXPECT_TRUE(db_->Flush(no_wait).ok());
    AwaitTask(GetParam().kind, GetParam().state);
    // It is never closed.
    static_cast<void>(db_.release());
    ::exit(HasFailure() ? 1 : 0);
  }
};

TEST_P(ExitTest, DoesNotWaitForWhatIsOrdered) {
  EXPECT_EXIT(ExitWhileOrdersBind(), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(
    Orders, ExitTest,
    testing::Values(Ordered{"compaction", {{"name", "hold"}}, "held"},
                    Ordered{"compaction",
                            {{"name", "rate_bytes_per_second"}, {"number", 1}},
                            "running"},
                    Ordered{"flush", {{"name", "hold"}}, "held"}));

}  // namespace
}  // namespace sluice
