// The rate of the rate limiter as an option that can be changed.

#include "rocksdb/rate_limiter.h"

#include <gtest/gtest.h>

#include "test_database.h"

namespace hooks_test {
namespace {

constexpr int64_t kFirstRate = 10 << 20;

class RateLimiterOption : public testing::Test {
 protected:
  void OpenWithLimiter() {
    database_.options.rate_limiter.reset(NewGenericRateLimiter(kFirstRate));
    database_.Open();
  }

  Status Set(const std::unordered_map<std::string, std::string>& options) {
    return database_.db->SetDBOptions(options);
  }

  int64_t Rate() { return database_.options.rate_limiter->GetBytesPerSecond(); }

  TestDatabase database_;
};

TEST_F(RateLimiterOption, ChangesTheRate) {
  OpenWithLimiter();
  Require(Set({{"rate_limiter_bytes_per_sec", "123456789"}}));
  EXPECT_EQ(123456789, Rate());
  Require(Set({{"rate_limiter_bytes_per_sec", "1000"}}));
  EXPECT_EQ(1000, Rate());
}

TEST_F(RateLimiterOption, ComesWithOtherOptions) {
  OpenWithLimiter();
  Require(Set(
      {{"rate_limiter_bytes_per_sec", "1000"}, {"max_background_jobs", "7"}}));
  EXPECT_EQ(1000, Rate());
  EXPECT_EQ(7, database_.db->GetDBOptions().max_background_jobs);
}

TEST_F(RateLimiterOption, StaysIfAnotherOptionIsRefused) {
  OpenWithLimiter();
  EXPECT_FALSE(
      Set({{"rate_limiter_bytes_per_sec", "1000"}, {"wal_dir", "x"}}).ok());
  EXPECT_EQ(kFirstRate, Rate());
}

TEST_F(RateLimiterOption, IsNotWrittenToOptionsFiles) {
  OpenWithLimiter();
  Require(Set({{"rate_limiter_bytes_per_sec", "123456789"},
               {"max_background_jobs", "7"}}));
  EXPECT_EQ(std::string::npos, database_.OptionsText().find("123456789"));
}

TEST_F(RateLimiterOption, RefusesWhatIsNoRate) {
  OpenWithLimiter();
  for (const char* wrong : {"", "0", "-1", "1e6", "10 MB", "fast"}) {
    const int jobs = database_.db->GetDBOptions().max_background_jobs;
    const Status status = Set(
        {{"rate_limiter_bytes_per_sec", wrong}, {"max_background_jobs", "9"}});
    EXPECT_TRUE(status.IsInvalidArgument()) << wrong;
    EXPECT_EQ(jobs, database_.db->GetDBOptions().max_background_jobs);
  }
  EXPECT_EQ(kFirstRate, Rate());
}

TEST_F(RateLimiterOption, NeedsALimiter) {
  database_.Open();
  const Status status = Set({{"rate_limiter_bytes_per_sec", "1000"}});
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(std::string::npos, status.ToString().find("limiter"));
}

}  // namespace
}  // namespace hooks_test
