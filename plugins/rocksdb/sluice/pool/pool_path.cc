#include "sluice/pool/pool_path.h"

#include <algorithm>

namespace sluice {

std::string PoolPath(const std::string& path) {
  std::string shortest;
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (!name.empty() && name != ".") shortest += '/' + name;
    begin = end + 1;
  }
  return shortest.empty() ? "/" : shortest;
}

bool IsBelow(const std::string& path, const std::string& folder) {
  if (folder.empty()) return false;
  const std::string above = PoolPath(folder);
  const std::string below = PoolPath(path);
  return below == above || above == "/" ||
         below.compare(0, above.size() + 1, above + "/") == 0;
}

}  // namespace sluice
