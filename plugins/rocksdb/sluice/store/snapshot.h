// What the state of the process is made of.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sluice/io/task.h"
#include "sluice/latency/operation_latencies.h"
#include "sluice/protocol/json.h"
#include "sluice/store/database.h"

namespace sluice {

using OpenDatabases = std::vector<std::shared_ptr<Database>>;
using RunningTasks = std::vector<std::shared_ptr<Task>>;

// Members tasks, debts, latencies and figures of the protocol's snapshot.
Json SnapshotOf(const OpenDatabases& databases, const RunningTasks& running,
                const std::vector<OperationLatencies::Interval>& latencies,
                const std::map<std::string, uint64_t>& figures, TimePoint now);

// Debt of compactions in a scope that contains the family.
double DebtOf(const std::string& scope, const OpenDatabases& databases,
              const Database& own, const FamilyState& family);

}  // namespace sluice
