// Counters of the plug-in, as the snapshot shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace sluice {

// Safe for threads. Names end in their unit, in _total if they only grow.
class Figures {
 public:
  // Part of a name may be a word of the agent's. What is new beyond so many is
  // not counted.
  static constexpr size_t kMaxNames = 200;

  void Add(const std::string& name, uint64_t amount) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (amounts_.size() >= kMaxNames && amounts_.count(name) == 0) return;
    amounts_[name] += amount;
  }
  std::map<std::string, uint64_t> All() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return amounts_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> amounts_;
};

}  // namespace sluice
