#include "sluice/pool/pool_options.h"

#include <cstddef>

namespace sluice {

using ROCKSDB_NAMESPACE::OptionType;
using ROCKSDB_NAMESPACE::OptionTypeFlags;
using ROCKSDB_NAMESPACE::OptionTypeInfo;
using ROCKSDB_NAMESPACE::OptionVerificationType;

#define SLUICE_OPTION(name, type)                                      \
  {                                                                    \
#name, {                                                           \
      static_cast<int>(offsetof(PoolOptions, name)), OptionType::type, \
          OptionVerificationType::kNormal, OptionTypeFlags::kNone      \
    }                                                                  \
  }

const std::unordered_map<std::string, OptionTypeInfo>& PoolOptionTypes() {
  static const auto* const types =
      new std::unordered_map<std::string, OptionTypeInfo>{
          SLUICE_OPTION(volume, kString),
          SLUICE_OPTION(directory, kString),
          SLUICE_OPTION(agent_socket, kString),
          SLUICE_OPTION(holder, kString),
          SLUICE_OPTION(local_directory, kString),
          SLUICE_OPTION(read_only, kBoolean),
          SLUICE_OPTION(wait_seconds, kDouble),
      };
  return *types;
}

#undef SLUICE_OPTION

}  // namespace sluice
