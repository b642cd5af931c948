#include "sluice/store/exit_waits.h"

#include "rocksdb/env.h"

namespace sluice {

// exit() waits for the threads of the default environment. What is made later
// ends earlier, so that environment is made first.
void EndWaitsAtExit(Pace* pace) {
  ROCKSDB_NAMESPACE::Env::Default();
  static const struct Ending {
    ~Ending() { pace->EndWaits(); }
    Pace* const pace;
  } ending{pace};
}

}  // namespace sluice
