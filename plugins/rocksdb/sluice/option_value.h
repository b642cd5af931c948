// What the options of the plug-in may be set to.
#pragma once

#include <string>

namespace sluice {

// Why an option must not have this value; empty if it may, or if there is no
// rule for it. RocksDB takes nan, inf, and -1 for the largest of all numbers.
std::string WhyNoOption(const std::string& name, const std::string& text);

}  // namespace sluice
