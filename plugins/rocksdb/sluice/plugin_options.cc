#include "sluice/plugin_options.h"

#include <cstddef>

#include "sluice/option_value.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::OptionType;
using ROCKSDB_NAMESPACE::OptionTypeFlags;
using ROCKSDB_NAMESPACE::OptionTypeInfo;
using ROCKSDB_NAMESPACE::OptionVerificationType;
using ROCKSDB_NAMESPACE::Status;

OptionTypeInfo Plain(size_t offset, OptionType type) {
  return {static_cast<int>(offset), type, OptionVerificationType::kNormal,
          OptionTypeFlags::kNone};
}

// Refuses what RocksDB would take, and the plug-in could not use. Nothing is
// set then.
OptionTypeInfo Checked(size_t offset, OptionType type) {
  return Plain(offset, type)
      .SetParseFunc([read = Plain(0, type)](const ConfigOptions& how,
                                            const std::string& name,
                                            const std::string& text, void* to) {
        const std::string bare = OptionTypeInfo::StripOuterBraces(text);
        const std::string reason = WhyNoOption(name, bare);
        return reason.empty() ? read.Parse(how, name, bare, to)
                              : Status::InvalidArgument(reason);
      });
}

}  // namespace

#define SLUICE_OPTION(name, of, type) \
  { #name, of(offsetof(PluginOptions, name), OptionType::type) }

const std::unordered_map<std::string, OptionTypeInfo>& PluginOptionTypes() {
  static const auto* const types =
      new std::unordered_map<std::string, OptionTypeInfo>{
          SLUICE_OPTION(instance, Plain, kString),
          SLUICE_OPTION(socket_directory, Plain, kString),
          SLUICE_OPTION(database_name, Checked, kString),
          SLUICE_OPTION(max_time_to_live_seconds, Checked, kDouble),
          SLUICE_OPTION(latency, Checked, kString),
          SLUICE_OPTION(remote, Plain, kBoolean),
          SLUICE_OPTION(agent_socket, Plain, kString),
          SLUICE_OPTION(minimum_input_bytes, Checked, kUInt64T),
          SLUICE_OPTION(minimum_level, Checked, kInt),
          SLUICE_OPTION(plain_files, Plain, kBoolean),
          SLUICE_OPTION(pool_volume, Plain, kString),
          SLUICE_OPTION(pool_directory, Plain, kString),
          SLUICE_OPTION(pool_socket, Plain, kString),
          SLUICE_OPTION(pool_local_directory, Plain, kString),
          SLUICE_OPTION(wal_slow_directory, Plain, kString),
          SLUICE_OPTION(redirect_queue_requests, Checked, kDouble),
          SLUICE_OPTION(redirect_size_bytes, Checked, kDouble),
          SLUICE_OPTION(redirect_step_ratio, Checked, kDouble),
      };
  return *types;
}

#undef SLUICE_OPTION

}  // namespace sluice
