// What a column family is like at one moment.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

struct FamilyState {
  uint32_t id = 0;
  std::string name;

  // Its writes are slowed down or stopped.
  bool is_stalled = false;
  bool has_automatic_compactions = true;
  // Of style FIFO: compactions drop files, or copy them to another temperature.
  bool is_fifo = false;
  uint64_t pending_compaction_bytes = 0;
  uint64_t level0_bytes = 0;
  int level0_files = 0;
  int level0_compaction_trigger = 0;
  int level0_slowdown_trigger = 0;
  int level0_stop_trigger = 0;
  // 0 for none.
  uint64_t soft_pending_bytes_limit = 0;
  uint64_t hard_pending_bytes_limit = 0;
  int files = 0;
  uint64_t bytes = 0;

  // The active memtable is none of the unflushed ones.
  bool has_unflushed = false;
  bool has_queued_flush = false;
  int unflushed_memtables = 0;
  int max_memtables = 0;
  uint64_t active_memtable_bytes = 0;
  uint64_t unflushed_bytes = 0;
  uint64_t memtable_size_bytes = 0;
};

// Bytes that compactions have put off: what the store estimates, and at least
// what lies in L0. FIFO never compacts what lies there.
uint64_t CompactionDebtBytes(const FamilyState& family);
uint64_t FlushDebtBytes(const FamilyState& family);

// How far on its way to a write stall a family is: 0 where the store does
// nothing by itself yet, 1 where it slows down or stops writes, or would with
// one file more.
double CompactionStallCloseness(const FamilyState& family);
double FlushStallCloseness(const FamilyState& family);

}  // namespace sluice
