// What the state of the process is made of.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sluice/io/task.h"
#include "sluice/latency/operation_latencies.h"
#include "sluice/protocol/json.h"
#include "sluice/store/database_registry.h"

namespace sluice {

using RunningTasks = std::vector<std::shared_ptr<Task>>;

// Members tasks, debts, latencies and figures of the protocol's snapshot.
Json SnapshotOf(const OpenDatabases& databases, const RunningTasks& running,
                const std::vector<OperationLatencies::Interval>& latencies,
                const std::map<std::string, uint64_t>& figures, TimePoint now);

}  // namespace sluice
