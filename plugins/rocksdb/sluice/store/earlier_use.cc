#include "sluice/store/earlier_use.h"

#include <string_view>

#include "rocksdb/env.h"
#include "sluice/latency/timing_statistics.h"
#include "sluice/store/database_listener.h"

namespace sluice {

void ForgetEarlierUse(ROCKSDB_NAMESPACE::DBOptions* options) {
  std::erase_if(options->listeners, [](const auto& each) {
    return std::string_view(each->Name()) == DatabaseListener::kName;
  });
  if (options->env == nullptr) {
    options->env = ROCKSDB_NAMESPACE::Env::Default();
  }
  if (options->statistics && std::string_view(options->statistics->Name()) ==
                                 TimingStatistics::kName) {
    options->statistics =
        static_cast<TimingStatistics*>(options->statistics.get())->own();
  }
}

}  // namespace sluice
