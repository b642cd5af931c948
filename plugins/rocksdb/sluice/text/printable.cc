#include "sluice/text/printable.h"

#include <cstdint>

namespace sluice {
namespace {

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// How many bytes the lead byte of a character announces; 0 if it is none.
size_t AnnouncedBytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

uint32_t Decode(std::string_view character) {
  static constexpr unsigned char kLeadMask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  uint32_t code =
      static_cast<unsigned char>(character[0]) & kLeadMask[character.size()];
  for (size_t i = 1; i < character.size(); ++i) {
    code = code << 6 | (static_cast<unsigned char>(character[i]) & 0x3F);
  }
  return code;
}

bool IsAllowed(uint32_t code, size_t bytes) {
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool is_control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
  return code >= kSmallest[bytes] && code <= 0x10FFFF && !is_surrogate &&
         !is_control;
}

// Bytes of the printable character that a text begins with; 0 if it does not.
size_t PrintableBytes(std::string_view text) {
  const size_t bytes = AnnouncedBytes(static_cast<unsigned char>(text[0]));
  if (bytes == 0 || bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(static_cast<unsigned char>(text[i]))) return 0;
  }
  return IsAllowed(Decode(text.substr(0, bytes)), bytes) ? bytes : 0;
}

}  // namespace

bool IsPrintable(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = PrintableBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string Printable(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string printable;
  while (!text.empty()) {
    const size_t bytes = PrintableBytes(text);
    if (bytes > 0) {
      printable.append(text.substr(0, bytes));
      text.remove_prefix(bytes);
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[0]);
    printable += {'%', kDigits[byte >> 4], kDigits[byte & 0x0F]};
    text.remove_prefix(1);
  }
  return printable;
}

size_t CharacterCount(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) {
    count += !IsContinuation(static_cast<unsigned char>(byte));
  }
  return count;
}

}  // namespace sluice
