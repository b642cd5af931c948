// Counters of the plug-in, as the snapshot shows them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace sluice {

// Safe for threads. Names end in their unit, in _total if they only grow.
class Figures {
 public:
  void Add(const std::string& name, uint64_t amount) {
    std::lock_guard<std::mutex> lock(mutex_);
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
