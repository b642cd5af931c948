// What a database is like at one moment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/monotonic_clock.h"
#include "sluice/store/family_state.h"

namespace sluice {

struct StoreState {
  // It was read after this moment.
  TimePoint at;
  // In the order of their ids.
  std::vector<FamilyState> families;
  // Writes are slowed down or stopped.
  bool is_stalled = false;
  // Background work has failed, or the store recovers from that.
  bool is_in_error = false;
  int running_flushes = 0;
  // A memtable waits for a thread that writes it out.
  bool has_queued_flush = false;
  uint64_t live_bytes = 0;
  // Of files that are kept for as long as older flushes and compactions run.
  uint64_t obsolete_bytes = 0;
  uint64_t compaction_debt_bytes = 0;
  uint64_t flush_debt_bytes = 0;
  // Logs that are still needed, and how many bytes of them there may be; 0 for
  // any number.
  uint64_t log_bytes = 0;
  uint64_t max_log_bytes = 0;
  // Which write buffer manager it has, alone or with other stores, and the
  // manager's bound; 0 for none.
  const void* write_buffers = nullptr;
  uint64_t max_write_buffer_bytes = 0;

  // nullptr if it was not there.
  const FamilyState* Find(uint32_t family) const;
  const FamilyState* Find(const std::string& name) const;
};

// How near obsolete files are to what may be kept: 1 where it is reached.
double ObsoleteFilesCloseness(const StoreState& store);

// How far bytes in memory or in logs are on their way from their bound to twice
// the bound. A store without orders has passed it, too, while the flush runs
// that it orders there.
double ExcessCloseness(uint64_t bytes, uint64_t bound);

}  // namespace sluice
