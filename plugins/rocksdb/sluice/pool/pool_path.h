// Paths as RocksDB makes them, and as a pool has them.
#pragma once

#include <string>

namespace sluice {

// The shortest form of a path: with one / before each name, and none at its
// end. A path that does not begin with / does so in a pool.
std::string PoolPath(const std::string& path);

// Whether a path is a folder or below it; nothing is below an empty one.
bool IsBelow(const std::string& path, const std::string& folder);

}  // namespace sluice
