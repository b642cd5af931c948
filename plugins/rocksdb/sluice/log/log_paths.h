// Names of logs, and of what else is beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The number before `end`, which a name ends with.
std::optional<uint64_t> NumberBefore(std::string_view name,
                                     std::string_view end);
// The name with that number, as RocksDB writes it.
std::string NumberedName(uint64_t number, std::string_view end);

// The number of a log by the name of its file, NUMBER.log.
std::optional<uint64_t> LogNumber(const std::string& file_name);
std::string LogName(uint64_t number);

// A path without slashes at its end, and none of them doubled.
std::string PlainPath(const std::string& path);

std::string NameIn(const std::string& path);
// Plain; nothing where the path has none.
std::string FolderOf(const std::string& path);

}  // namespace sluice
