// RocksDB calls this when the registry of its objects is made.
#include <memory>
#include <string>

#include "rocksdb/utilities/object_registry.h"
#include "sluice/compaction_service.h"

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
  return 1;
}
