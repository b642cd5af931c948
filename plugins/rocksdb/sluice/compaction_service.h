// The plug-in as RocksDB sees it: compaction_service={id=sluice;...}.
#pragma once

#include <string>

#include "rocksdb/background_hooks.h"
#include "rocksdb/options.h"
#include "sluice/plugin_options.h"
#include "sluice/remote/remote_compactions.h"
#include "sluice/store/process.h"

namespace sluice {

// Offers compactions to other nodes, and lets the plug-in into the databases
// whose option it is: one, or several that were opened with the same options.
// Nothing here throws.
class CompactionService : public ROCKSDB_NAMESPACE::CompactionService,
                          public ROCKSDB_NAMESPACE::BackgroundHooks {
 public:
  static constexpr char kId[] = "sluice";

  CompactionService();

  const char* Name() const override { return kId; }

  ROCKSDB_NAMESPACE::CompactionServiceScheduleResponse Schedule(
      const ROCKSDB_NAMESPACE::CompactionServiceJobInfo& info,
      const std::string& input) override;
  ROCKSDB_NAMESPACE::CompactionServiceJobStatus Wait(
      const std::string& id, std::string* result) override;
  void OnInstallation(
      const std::string& id,
      ROCKSDB_NAMESPACE::CompactionServiceJobStatus status) override;

  void PrepareOptions(const std::string& path,
                      ROCKSDB_NAMESPACE::DBOptions* options) override;
  void Opened(ROCKSDB_NAMESPACE::DB* db) override;
  void ShutdownBegins(ROCKSDB_NAMESPACE::DB* db) override;
  bool MayCompact(ROCKSDB_NAMESPACE::DB* db, uint32_t family) override;
  void StaysLocal(const std::string& path, const char* reason) override;

 protected:
  const void* GetOptionsPtr(const std::string& name) const override;

 private:
  PluginOptions options_;
  Process* const process_;
  RemoteCompactions remote_;
};

}  // namespace sluice
