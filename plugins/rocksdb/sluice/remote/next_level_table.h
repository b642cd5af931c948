// A table that the output of a compaction will be compacted with next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// Its first and last user key, and its size.
struct NextLevelTable {
  std::string smallest;
  std::string largest;
  uint64_t bytes = 0;
};

// In the order of their keys. Where there are more, or longer keys, none is
// told: a job has to fit into a line.
using NextLevelTables = std::vector<NextLevelTable>;
inline constexpr size_t kMaxNextLevelTables = 4096;
inline constexpr size_t kMaxNextLevelKeyBytes = 256 << 10;

}  // namespace sluice
