// What a database is like at one moment.
#pragma once

#include <cstdint>
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

  // nullptr if it was not there.
  const FamilyState* Find(uint32_t family) const;
};

// How near obsolete files are to what may be kept: 1 where it is reached.
double ObsoleteFilesCloseness(const StoreState& store);

}  // namespace sluice
