#include "sluice/worker/input_tables.h"

#include "file/random_access_file_reader.h"
#include "rocksdb/table_properties.h"
#include "table/internal_iterator.h"
#include "table/table_builder.h"
#include "table/table_reader.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::Arena;
using ROCKSDB_NAMESPACE::GetContext;
using ROCKSDB_NAMESPACE::InternalIterator;
using ROCKSDB_NAMESPACE::RandomAccessFileReader;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::SliceTransform;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TableBuilder;
using ROCKSDB_NAMESPACE::TableBuilderOptions;
using ROCKSDB_NAMESPACE::TableFactory;
using ROCKSDB_NAMESPACE::TableProperties;
using ROCKSDB_NAMESPACE::TableReader;
using ROCKSDB_NAMESPACE::TableReaderCaller;
using ROCKSDB_NAMESPACE::TableReaderOptions;
using ROCKSDB_NAMESPACE::WritableFileWriter;

// Should RocksDB read it all the same, the compaction fails, and is local.
Status NoInput() {
  return Status::NotSupported("the table is no input of the compaction");
}

class UnreadTable : public TableReader {
 public:
  InternalIterator* NewIterator(const ReadOptions&, const SliceTransform*,
                                Arena* arena, bool, TableReaderCaller, size_t,
                                bool) override {
    return ROCKSDB_NAMESPACE::NewErrorInternalIterator<Slice>(NoInput(), arena);
  }
  uint64_t ApproximateOffsetOf(const ReadOptions&, const Slice&,
                               TableReaderCaller) override {
    return 0;
  }
  uint64_t ApproximateSize(const ReadOptions&, const Slice&, const Slice&,
                           TableReaderCaller) override {
    return 0;
  }
  void SetupForCompaction() override {}
  std::shared_ptr<const TableProperties> GetTableProperties() const override {
    return std::make_shared<TableProperties>();
  }
  size_t ApproximateMemoryUsage() const override { return sizeof *this; }
  Status Get(const ReadOptions&, const Slice&, GetContext*,
             const SliceTransform*, bool) override {
    return NoInput();
  }
};

}  // namespace

Status InputTables::NewTableReader(
    const ReadOptions& read_options, const TableReaderOptions& options,
    std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
    std::unique_ptr<TableReader>* reader, bool prefetch) const {
  const bool is_output = file->file_name().rfind(output_path_ + "/", 0) == 0;
  if (is_output || numbers_.count(options.cur_file_num) > 0) {
    // A compaction looks for no single key.
    TableReaderOptions without_filters(options);
    without_filters.skip_filters = true;
    return target_->NewTableReader(read_options, without_filters,
                                   std::move(file), file_size, reader,
                                   prefetch);
  }
  *reader = std::make_unique<UnreadTable>();
  return Status::OK();
}

TableBuilder* InputTables::NewTableBuilder(const TableBuilderOptions& options,
                                           WritableFileWriter* file) const {
  return target_->NewTableBuilder(options, file);
}

std::unique_ptr<TableFactory> InputTables::Clone() const {
  return std::make_unique<InputTables>(target_, numbers_, output_path_);
}

bool InputTables::IsDeleteRangeSupported() const {
  return target_->IsDeleteRangeSupported();
}

}  // namespace sluice
