#include "sluice/store/untold_ends.h"

namespace sluice {

void FollowUntoldEnds(const StoreState& store, const Freedom* database,
                      Pace* pace) {
  for (const auto& task : pace->Running()) {
    // A later one may be missing in what was read.
    if (task->freedom.get() != database || task->started_at >= store.at) {
      continue;
    }
    if (task->kind == Kind::kFlush && store.running_flushes == 0) {
      pace->End(task);
    } else if (!task->IsFree() && store.Find(task->family) == nullptr) {
      pace->LetGo(task.get());
    }
  }
}

}  // namespace sluice
