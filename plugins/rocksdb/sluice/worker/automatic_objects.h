// Objects of the store that are to know that a compaction is automatic.
#pragma once

#include <memory>
#include <utility>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/sst_partitioner.h"

namespace sluice {

// RocksDB takes every compaction of a worker for a manual one. These tell
// filters and partitioners what it is.
class AutomaticFilters : public ROCKSDB_NAMESPACE::CompactionFilterFactory {
 public:
  using CompactionFilter = ROCKSDB_NAMESPACE::CompactionFilter;

  explicit AutomaticFilters(std::shared_ptr<CompactionFilterFactory> target)
      : target_(std::move(target)) {}

  const char* Name() const override { return target_->Name(); }
  const Customizable* Inner() const override { return target_.get(); }
  bool ShouldFilterTableFileCreation(
      ROCKSDB_NAMESPACE::TableFileCreationReason reason) const override {
    return target_->ShouldFilterTableFileCreation(reason);
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    CompactionFilter::Context told = context;
    told.is_manual_compaction = false;
    return target_->CreateCompactionFilter(told);
  }

 private:
  const std::shared_ptr<CompactionFilterFactory> target_;
};

class AutomaticPartitioners : public ROCKSDB_NAMESPACE::SstPartitionerFactory {
 public:
  using SstPartitioner = ROCKSDB_NAMESPACE::SstPartitioner;

  explicit AutomaticPartitioners(std::shared_ptr<SstPartitionerFactory> target)
      : target_(std::move(target)) {}

  const char* Name() const override { return target_->Name(); }
  const Customizable* Inner() const override { return target_.get(); }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const override {
    SstPartitioner::Context told = context;
    told.is_manual_compaction = false;
    return target_->CreatePartitioner(told);
  }

 private:
  const std::shared_ptr<SstPartitionerFactory> target_;
};

}  // namespace sluice
