// A program may open a database with the options that another one had.
#pragma once

#include "rocksdb/options.h"

namespace sluice {

// Takes out what the plug-in has put into them then; an environment stays, and
// is known again.
void ForgetEarlierUse(ROCKSDB_NAMESPACE::DBOptions* options);

}  // namespace sluice
