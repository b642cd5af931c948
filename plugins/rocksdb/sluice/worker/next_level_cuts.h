// Ends the tables of a compaction where those of the next level do.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "rocksdb/comparator.h"
#include "rocksdb/sst_partitioner.h"
#include "sluice/remote/next_level_table.h"

namespace sluice {

// Sizes of a table that RocksDB would write by itself, in bytes.
struct TableSizes {
  uint64_t target = 0;
  // Of a table and what overlaps it at the next level.
  uint64_t most_compacted = 0;
};

// RocksDB picks the compaction of a worker anew, without the next level: its
// tables would end anywhere, and be smaller. As
// CompactionOutputs::ShouldStopBefore() does in the store's process, for
// compactions by level.
class NextLevelCuts : public ROCKSDB_NAMESPACE::SstPartitionerFactory {
 public:
  using SstPartitioner = ROCKSDB_NAMESPACE::SstPartitioner;

  // `own` is the store's own factory, or nullptr; the comparator outlives all.
  NextLevelCuts(std::shared_ptr<SstPartitionerFactory> own,
                std::shared_ptr<const NextLevelTables> tables, TableSizes sizes,
                const ROCKSDB_NAMESPACE::Comparator* order)
      : own_(std::move(own)),
        tables_(std::move(tables)),
        sizes_(sizes),
        order_(order) {}

  const char* Name() const override { return "SluiceNextLevelCuts"; }
  const Customizable* Inner() const override { return own_.get(); }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const override;

 private:
  const std::shared_ptr<SstPartitionerFactory> own_;
  const std::shared_ptr<const NextLevelTables> tables_;
  const TableSizes sizes_;
  const ROCKSDB_NAMESPACE::Comparator* const order_;
};

}  // namespace sluice
