// JSON as lines hold it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

using Json = nlohmann::ordered_json;

// Deepest nesting that is read: no message has more than a few levels.
inline constexpr int kMaxDepth = 32;

// The largest whole number of which a double holds every smaller one.
inline constexpr double kMaxWholeNumber = 9007199254740991;

// Reads one document in UTF-8; nothing if it is none, or nested too deeply.
std::optional<Json> ReadJson(std::string_view text);

// A line without its newline.
std::string WriteJson(const Json& document);

// A whole number from 0 to the largest, however it is written (1000, 1e3).
std::optional<uint64_t> WholeNumber(const Json& value);

}  // namespace sluice
