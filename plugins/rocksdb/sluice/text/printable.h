// Texts of the protocol: UTF-8 without control characters.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Whether a text is UTF-8 and has none of U+0000 to U+001F, U+007F to U+009F.
bool IsPrintable(std::string_view text);

// The text with each byte that is not part of printable UTF-8 written %XX:
// names of databases and column families may hold any bytes.
std::string Printable(std::string_view text);

// How many characters a text of valid UTF-8 has.
size_t CharacterCount(std::string_view text);

}  // namespace sluice
