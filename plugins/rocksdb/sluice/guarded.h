// Calls of RocksDB, which is not safe for exceptions.
#pragma once

#include <exception>

namespace sluice {

// Memory that runs out in the plug-in must not reach the store, which then
// goes on as without it.
template <typename Action, typename Result>
Result Guarded(Result otherwise, const Action& action) noexcept {
  try {
    return action();
  } catch (const std::exception&) {
    return otherwise;
  }
}

template <typename Action>
void Guarded(const Action& action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
    // See above.
  }
}

}  // namespace sluice
