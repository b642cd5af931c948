// Base64 with padding, as RFC 4648 has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

std::string ToBase64(std::string_view bytes);

// Nothing if the text is not exactly what ToBase64 gives.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace sluice
