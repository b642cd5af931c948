// RocksDB calls this when the registry of its objects is made.
#include <memory>
#include <string>

#include "rocksdb/utilities/object_registry.h"
#include "sluice/compaction_service.h"
#include "sluice/pool/pool_file_system.h"

namespace {

using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::ObjectLibrary;

constexpr char kBeforeVolume[] = "://";

// sluice-pool, or sluice-pool://VOLUME.
FileSystem* NewPoolFileSystem(const std::string& uri,
                              std::unique_ptr<FileSystem>* guard,
                              std::string*) {
  sluice::PoolOptions options;
  const size_t end = uri.find(kBeforeVolume);
  if (end != std::string::npos) {
    options.volume = uri.substr(end + sizeof kBeforeVolume - 1);
  }
  guard->reset(new sluice::PoolFileSystem(std::move(options)));
  return guard->get();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int sluice_register(
    ROCKSDB_NAMESPACE::ObjectLibrary& library, const std::string&) {
  library.AddFactory<ROCKSDB_NAMESPACE::CompactionService>(
      sluice::CompactionService::kId,
      [](const std::string&,
         std::unique_ptr<ROCKSDB_NAMESPACE::CompactionService>* guard,
         std::string*) {
        guard->reset(new sluice::CompactionService());
        return guard->get();
      });
  library.AddFactory<FileSystem>(
      ObjectLibrary::PatternEntry(sluice::PoolFileSystem::kId)
          .AddSeparator(kBeforeVolume, false),
      &NewPoolFileSystem);
  return 2;
}
