#pragma once

namespace sluice {

inline constexpr char kPluginVersion[] = "1.0";

}  // namespace sluice
