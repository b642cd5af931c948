// Leaves tables of a database unopened until they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "rocksdb/file_system.h"

namespace sluice {

// RocksDB opens the file of every table before it asks its factory for one, and
// InputTables reads those alone that a compaction has as input. On a file
// system of several nodes each file that is opened is a way there and back.
class LateTables : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  // Tables with these numbers are opened at once.
  LateTables(const std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem>& target,
             const std::string& database_path, std::set<uint64_t> numbers)
      : FileSystemWrapper(target),
        folder_(database_path + "/"),
        numbers_(std::move(numbers)) {}

  const char* Name() const override { return "SluiceLateTables"; }
  ROCKSDB_NAMESPACE::IOStatus NewRandomAccessFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;

 private:
  bool IsLate(const std::string& path,
              const ROCKSDB_NAMESPACE::FileOptions& options) const;

  const std::string folder_;
  const std::set<uint64_t> numbers_;
};

}  // namespace sluice
