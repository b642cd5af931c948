#include "sluice/io/task.h"

namespace sluice {
namespace {

thread_local std::shared_ptr<Task> current_task;

}  // namespace

const std::shared_ptr<Task>& CurrentTask() { return current_task; }

void SetCurrentTask(std::shared_ptr<Task> task) {
  current_task = std::move(task);
}

}  // namespace sluice
