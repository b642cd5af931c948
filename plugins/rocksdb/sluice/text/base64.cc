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

}  // namespace

std::string ToBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = i; j < i + 3; ++j) {
      group <<= 8;
      if (j < bytes.size()) group |= static_cast<unsigned char>(bytes[j]);
    }
    const size_t digits = bytes.size() - i >= 3 ? 4 : bytes.size() - i + 1;
    for (size_t digit = 0; digit < 4; ++digit) {
      text += digit < digits ? kDigits[group >> (18 - 6 * digit) & 0x3F] : '=';
    }
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
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_padding = i >= text.size() - padding;
    const int value =
        is_padding ? 0 : kValues[static_cast<unsigned char>(text[i])];
    if (value < 0) return std::nullopt;
    group = group << 6 | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    bytes += {static_cast<char>(group >> 16), static_cast<char>(group >> 8),
              static_cast<char>(group)};
    group = 0;
  }
  bytes.resize(bytes.size() - padding);
  // Bits that padding leaves over must be zero: one text for each value.
  if (padding > 0 && ToBase64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace sluice
