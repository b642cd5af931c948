#include "sluice/text/printable.h"

#include <gtest/gtest.h>

#include <random>

namespace sluice {
namespace {

TEST(PrintableTest, TextsWithoutControlCharactersArePrintable) {
  for (const char* text : {"", "a", "µ", "日本", "\U0001F600", "\u00A0"}) {
    EXPECT_TRUE(IsPrintable(text)) << text;
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(PrintableTest, ControlCharactersAndBrokenTextsAreNot) {
  using namespace std::literals;
  const std::string_view texts[] = {"a\nb"sv,
                                    "\0"sv,
                                    "\x7F"sv,
                                    "\u0080"sv,
                                    "\u009F"sv,
                                    "\xFF"sv,
                                    "\xC3"sv,
                                    "\xC0\xAF"sv,
                                    "\xED\xA0\x80"sv,
                                    "\xE0\x80\xAF"sv,
                                    "\xF4\x90\x80\x80"sv};
  for (const std::string_view text : texts) {
    EXPECT_FALSE(IsPrintable(text));
    EXPECT_TRUE(IsPrintable(Printable(text)));
  }
  EXPECT_EQ(Printable("a\nb"), "a%0Ab");
}

TEST(PrintableTest, AnyBytesBecomePrintable) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string text(random() % 12, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    const std::string printable = Printable(text);
    ASSERT_TRUE(IsPrintable(printable));
    ASSERT_EQ(printable == text, IsPrintable(text));
  }
}

TEST(PrintableTest, CharactersAreCountedAndNotBytes) {
  EXPECT_EQ(CharacterCount("µm"), 2u);
}

}  // namespace
}  // namespace sluice
