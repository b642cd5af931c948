#include "sluice/text/base64.h"

#include <gtest/gtest.h>

#include <random>

namespace sluice {
namespace {

TEST(Base64Test, HasTheFormOfTheStandard) {
  EXPECT_EQ(ToBase64(""), "");
  EXPECT_EQ(ToBase64("f"), "Zg==");
  EXPECT_EQ(ToBase64("fo"), "Zm8=");
  EXPECT_EQ(ToBase64("foo"), "Zm9v");
  EXPECT_EQ(ToBase64("foobar"), "Zm9vYmFy");
}

TEST(Base64Test, OtherTextsAreRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "====", "Z===", "Zh==", "Zm9=",
                           "Zm9v\n", "Zm9v Zm8=", "Zg==Zg==", "Z_-v", "=Zg="}) {
    EXPECT_FALSE(FromBase64(text)) << text;
  }
}

TEST(Base64Test, WhatIsWrittenIsReadAgain) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes(random() % 100, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    ASSERT_EQ(FromBase64(ToBase64(bytes)), bytes);
  }
}

TEST(Base64Test, EachValueHasOneText) {
  std::mt19937 random(4);
  const std::string digits = "AZaz09+/=";
  for (int i = 0; i < 50000; ++i) {
    std::string text(4 * (random() % 3), '\0');
    for (char& digit : text) digit = digits[random() % digits.size()];
    const auto bytes = FromBase64(text);
    if (bytes) {
      ASSERT_EQ(ToBase64(*bytes), text);
    }
  }
}

}  // namespace
}  // namespace sluice
