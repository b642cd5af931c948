// Compactions and flushes that were ordered, on threads of their own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "sluice/lease/lease_store.h"
#include "sluice/store/database.h"

namespace sluice {

class StartedTasks {
 public:
  // Orders beyond this are refused: each has a thread.
  static constexpr int kMaxThreads = 16;

  struct Families {
    std::shared_ptr<Database> database;
    std::vector<uint32_t> ids;
  };
  // Compacts or flushes all of them, one after the other, on one thread. False
  // if there are too many threads already. What runs ends when its store
  // closes.
  bool Start(Kind kind, std::vector<Families> all);

 private:
  std::atomic<int> threads_{0};
};

}  // namespace sluice
