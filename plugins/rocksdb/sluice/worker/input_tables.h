// Opens of a database the tables alone that a compaction reads.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "rocksdb/table.h"

namespace sluice {

// RocksDB opens every table of the family that it compacts for another process,
// and of the default one: of thousands of small ones that costs more than the
// compaction. With this factory for the family its others are opened as tables
// that nobody can read. What the compaction writes is verified by reading it.
// Filters are not read.
class InputTables : public ROCKSDB_NAMESPACE::TableFactory {
 public:
  InputTables(std::shared_ptr<ROCKSDB_NAMESPACE::TableFactory> target,
              std::set<uint64_t> numbers, std::string output_path)
      : target_(std::move(target)),
        numbers_(std::move(numbers)),
        output_path_(std::move(output_path)) {}

  const char* Name() const override { return "SluiceInputTables"; }
  const ROCKSDB_NAMESPACE::Customizable* Inner() const override {
    return target_.get();
  }

  using TableFactory::NewTableReader;
  ROCKSDB_NAMESPACE::Status NewTableReader(
      const ROCKSDB_NAMESPACE::ReadOptions& read_options,
      const ROCKSDB_NAMESPACE::TableReaderOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::RandomAccessFileReader>&& file,
      uint64_t file_size,
      std::unique_ptr<ROCKSDB_NAMESPACE::TableReader>* reader,
      bool prefetch) const override;
  ROCKSDB_NAMESPACE::TableBuilder* NewTableBuilder(
      const ROCKSDB_NAMESPACE::TableBuilderOptions& options,
      ROCKSDB_NAMESPACE::WritableFileWriter* file) const override;
  std::unique_ptr<ROCKSDB_NAMESPACE::TableFactory> Clone() const override;
  bool IsDeleteRangeSupported() const override;

 private:
  const std::shared_ptr<ROCKSDB_NAMESPACE::TableFactory> target_;
  const std::set<uint64_t> numbers_;
  const std::string output_path_;
};

}  // namespace sluice
