// Numbers among the options of the plug-in.
#pragma once

#include <string>

namespace sluice {

// Why an option must not have this value; empty if it may, or if it is no
// number that is known. RocksDB takes nan, inf, and -1 for the largest of all.
std::string WhyNoOption(const std::string& name, const std::string& text);

}  // namespace sluice
