#include "sluice/log/log_paths.h"

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <system_error>

namespace sluice {
namespace {

constexpr std::string_view kLogEnd = ".log";

}  // namespace

std::optional<uint64_t> NumberBefore(std::string_view name,
                                     std::string_view end) {
  if (name.size() <= end.size() || !name.ends_with(end)) return std::nullopt;
  name.remove_suffix(end.size());
  uint64_t number = 0;
  const auto read =
      std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number =
      read.ec == std::errc() && read.ptr == name.data() + name.size();
  return is_number ? std::optional(number) : std::nullopt;
}

std::string NumberedName(uint64_t number, std::string_view end) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%06" PRIu64, number);
  return digits + std::string(end);
}

std::optional<uint64_t> LogNumber(const std::string& file_name) {
  return NumberBefore(file_name, kLogEnd);
}

std::string LogName(uint64_t number) { return NumberedName(number, kLogEnd); }

std::string PlainPath(const std::string& path) {
  std::string plain;
  for (const char c : path) {
    if (c != '/' || plain.empty() || plain.back() != '/') plain.push_back(c);
  }
  if (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return plain;
}

std::string NameIn(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : PlainPath(path.substr(0, slash));
}

}  // namespace sluice
