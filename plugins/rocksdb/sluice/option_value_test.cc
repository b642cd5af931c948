#include "sluice/option_value.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

bool IsTaken(const std::string& name, const std::string& text) {
  return WhyNoOption(name, text).empty();
}

TEST(OptionValueTest, ATimeToLiveIsFiniteAndAboveZero) {
  for (const char* text : {"600", "0.5", "1e3", "1000000000"}) {
    EXPECT_TRUE(IsTaken("max_time_to_live_seconds", text)) << text;
  }
  for (const char* text :
       {"nan", "NaN", "-nan", "nan(7)", "inf", "-inf", "infinity", "1e400",
        "-1e400", "0", "-600", "1e10", "1e-300", "", "600 s", "x"}) {
    EXPECT_FALSE(IsTaken("max_time_to_live_seconds", text)) << text;
  }
}

TEST(OptionValueTest, WholeNumbersAreNotBelowZero) {
  for (const char* text : {"0", "16777216", "16M", "16m", "1T", "5k"}) {
    EXPECT_TRUE(IsTaken("minimum_input_bytes", text)) << text;
  }
  for (const char* text :
       {"-1", "-0", "+1", "nan", "inf", "1.5", "1e3", "", "M", "16MB",
        "18446744073709551615", "99999T", "16X"}) {
    EXPECT_FALSE(IsTaken("minimum_input_bytes", text)) << text;
  }
  EXPECT_TRUE(IsTaken("minimum_level", "6"));
  EXPECT_FALSE(IsTaken("minimum_level", "-1"));
  EXPECT_FALSE(IsTaken("minimum_level", "256"));
}

TEST(OptionValueTest, WhatIsRedirectedHasBounds) {
  for (const char* name : {"redirect_queue_requests", "redirect_size_bytes"}) {
    for (const char* text : {"0", "0.5", "65536", "1e6"}) {
      EXPECT_TRUE(IsTaken(name, text)) << name << '=' << text;
    }
    for (const char* text : {"-1", "-0.5", "nan", "inf", "1e16", "", "64K"}) {
      EXPECT_FALSE(IsTaken(name, text)) << name << '=' << text;
    }
  }
  for (const char* text : {"0", "0.25", "1"}) {
    EXPECT_TRUE(IsTaken("redirect_step_ratio", text)) << text;
  }
  for (const char* text : {"-0.1", "1.01", "nan", ""}) {
    EXPECT_FALSE(IsTaken("redirect_step_ratio", text)) << text;
  }
}

TEST(OptionValueTest, ARefusalSaysWhatToDo) {
  EXPECT_EQ(WhyNoOption("max_time_to_live_seconds", "nan"),
            "the option max_time_to_live_seconds of "
            "compaction_service={id=sluice;...} is nan: set it to a number "
            "from 0.001 to 1e+09, or leave it out");
}

TEST(OptionValueTest, AWordIsOneOfThoseThatAreKnown) {
  for (const char* text : {"auto", "on", "off"}) {
    EXPECT_TRUE(IsTaken("latency", text)) << text;
  }
  for (const char* text : {"", "On", "true", "auto "}) {
    EXPECT_FALSE(IsTaken("latency", text)) << text;
  }
  EXPECT_EQ(WhyNoOption("latency", "On"),
            "the option latency of compaction_service={id=sluice;...} is On: "
            "set it to auto, on or off, or leave it out");
}

TEST(OptionValueTest, ANameOfADatabaseHasNoSlash) {
  EXPECT_TRUE(IsTaken("database_name", ""));
  EXPECT_TRUE(IsTaken("database_name", "shop"));
  EXPECT_FALSE(IsTaken("database_name", "a/b"));
}

TEST(OptionValueTest, OtherTextsAreNotLookedAt) {
  EXPECT_TRUE(IsTaken("instance", "nan"));
  EXPECT_TRUE(IsTaken("wal_slow_directory", "nan"));
}

}  // namespace
}  // namespace sluice
