#include "sluice/protocol/json.h"

#include <cmath>
#include <cstdlib>

namespace sluice {
namespace {

// Whether brackets outside of texts are nested no deeper than allowed. What
// is no JSON at all is left to the parser.
bool IsShallow(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxDepth) return false;
  }
  return true;
}

bool IsOfNumber(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
         c == 'e' || c == 'E';
}

// The text with null for each number that a double does not hold, such as
// 1e400: what is wrong then is that member, and not the document.
std::string WithoutInfinities(std::string_view text) {
  std::string finite;
  bool in_text = false;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (in_text) {
      end += text[i] == '\\' && end < text.size();
      in_text = text[i] != '"';
    } else if (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')) {
      while (end < text.size() && IsOfNumber(text[end])) ++end;
      const std::string number(text.substr(i, end - i));
      if (std::isinf(std::strtod(number.c_str(), nullptr))) {
        finite += "null";
        i = end;
        continue;
      }
    } else {
      in_text = text[i] == '"';
    }
    finite.append(text.substr(i, end - i));
    i = end;
  }
  return finite;
}

}  // namespace

std::optional<Json> ReadJson(std::string_view text) {
  // The parser takes it for the end, whatever comes after it.
  const bool has_end = text.find(char{0}) != std::string_view::npos;
  if (has_end || !IsShallow(text)) return std::nullopt;
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    document = Json::parse(WithoutInfinities(text), nullptr, false);
  }
  if (document.is_discarded()) return std::nullopt;
  return document;
}

std::string WriteJson(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<uint64_t> WholeNumber(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (number < 0 || number > kMaxWholeNumber || number != std::rint(number)) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(number);
}

}  // namespace sluice
