// What exit() must not wait for.
#pragma once

#include "sluice/io/pace.h"

namespace sluice {

// Has nobody wait at this pace any more once the process exits, or the plug-in
// is unloaded. Called once; the pace is never destroyed.
void EndWaitsAtExit(Pace* pace);

}  // namespace sluice
