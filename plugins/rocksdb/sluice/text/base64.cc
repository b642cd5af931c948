#include "sluice/text/base64.h"

#include <array>
#include <cstdint>

namespace sluice {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> Values() {
  std::array<int8_t, 256> values{};
  for (auto& value : values) value = -1;
  for (size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  }
  return values;
}

constexpr std::array<int8_t, 256> kValues = Values();

// The first `count` digits of a group of three bytes; returns what follows.
char* PutDigits(uint32_t group, size_t count, char* to) {
  for (size_t digit = 0; digit < count; ++digit) {
    *to++ = kDigits[group >> (18 - 6 * digit) & 0x3F];
  }
  return to;
}

// Three bytes; false if one of their four digits is none.
bool TakeGroup(const char* digits, char* to) {
  uint32_t group = 0;
  int all = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int value = kValues[static_cast<unsigned char>(digits[i])];
    all |= value;
    group = group << 6 | static_cast<uint32_t>(value);
  }
  to[0] = static_cast<char>(group >> 16);
  to[1] = static_cast<char>(group >> 8);
  to[2] = static_cast<char>(group);
  return all >= 0;
}

}  // namespace

std::string ToBase64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  const auto byte = [bytes](size_t i) -> uint32_t {
    return static_cast<unsigned char>(bytes[i]);
  };
  char* to = text.data();
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    to = PutDigits(byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2), 4, to);
  }
  const size_t left = bytes.size() - i;
  if (left > 0) {
    const uint32_t second = left == 2 ? byte(i + 1) << 8 : 0;
    PutDigits(byte(i) << 16 | second, left + 1, to);
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() &&
         text[text.size() - 1 - padding] == '=') {
    ++padding;
  }
  std::string bytes(text.size() / 4 * 3, '\0');
  char* to = bytes.data();
  const size_t whole = text.size() - (padding > 0 ? 4 : 0);
  for (size_t i = 0; i < whole; i += 4, to += 3) {
    if (!TakeGroup(text.data() + i, to)) return std::nullopt;
  }
  if (padding == 0) return bytes;
  std::string last(text.substr(whole, 4 - padding));
  last.append(padding, kDigits[0]);
  if (!TakeGroup(last.data(), to)) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  // Bits that padding leaves over must be zero: one text for each value.
  const std::string_view end = std::string_view(bytes).substr(whole / 4 * 3);
  if (ToBase64(end) != text.substr(whole)) return std::nullopt;
  return bytes;
}

}  // namespace sluice
