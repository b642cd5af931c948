#include "sluice/plugin_options.h"

#include <cstddef>

namespace sluice {

using ROCKSDB_NAMESPACE::OptionType;
using ROCKSDB_NAMESPACE::OptionTypeFlags;
using ROCKSDB_NAMESPACE::OptionTypeInfo;
using ROCKSDB_NAMESPACE::OptionVerificationType;

#define SLUICE_OPTION(name, type)                                          \
  {                                                                        \
#name, OptionTypeInfo(offsetof(PluginOptions, name), OptionType::type, \
                          OptionVerificationType::kNormal,                 \
                          OptionTypeFlags::kNone)                          \
  }

const std::unordered_map<std::string, OptionTypeInfo>& PluginOptionTypes() {
  static const auto* const types =
      new std::unordered_map<std::string, OptionTypeInfo>{
          SLUICE_OPTION(instance, kString),
          SLUICE_OPTION(socket_directory, kString),
          SLUICE_OPTION(database_name, kString),
          SLUICE_OPTION(max_time_to_live_seconds, kDouble),
          SLUICE_OPTION(latency, kString),
          SLUICE_OPTION(remote, kBoolean),
          SLUICE_OPTION(agent_socket, kString),
          SLUICE_OPTION(minimum_input_bytes, kUInt64T),
          SLUICE_OPTION(minimum_level, kInt),
          SLUICE_OPTION(plain_files, kBoolean),
      };
  return *types;
}

#undef SLUICE_OPTION

}  // namespace sluice
