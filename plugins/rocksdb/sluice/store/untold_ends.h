// What the store tells nobody of.
#pragma once

#include "sluice/io/pace.h"
#include "sluice/store/store_state.h"

namespace sluice {

// Ends the flushes of a database that have failed, and lets the tasks go whose
// families are dropped: their work is thrown away.
void FollowUntoldEnds(const StoreState& store, const Freedom* database,
                      Pace* pace);

}  // namespace sluice
