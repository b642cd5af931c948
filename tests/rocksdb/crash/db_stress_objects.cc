// What db_stress gives its databases and RocksDB's registry cannot make, for
// workers: a library that sluice-compact loads. Classes are those of upstream,
// compiled from db_stress's own sources.
#include <cassert>
#include <memory>
#include <string>

#include "db_stress_tool/db_stress_common.h"
#include "db_stress_tool/db_stress_compression_manager.h"
#include "db_stress_tool/db_stress_table_properties_collector.h"
#include "db_stress_tool/db_stress_wide_merge_operator.h"
#include "rocksdb/utilities/object_registry.h"
#include "util/auto_tune_compressor.h"
#include "util/simple_mixed_compressor.h"

// A worker has no command line: the crash test gives db_stress the same number.
DEFINE_uint32(use_put_entity_one_in, USE_PUT_ENTITY_ONE_IN, "");
// Only how often the tables of workers are marked, in place of db_stress's.
DEFINE_int32(mark_for_compaction_one_file_in, 10, "");

namespace ROCKSDB_NAMESPACE {

// As in db_stress_common.cc, which needs all of db_stress. Were they not the
// same, db_stress would find values that it does not expect.
uint32_t GetValueBase(Slice s) {
  assert(s.size() >= sizeof(uint32_t));
  uint32_t res;
  GetUnaligned(reinterpret_cast<const uint32_t*>(s.data()), &res);
  return res;
}

WideColumns GenerateWideColumns(uint32_t value_base, const Slice& slice) {
  constexpr size_t kMaxColumns = 4;
  const size_t count = (value_base % kMaxColumns) + 1;
  WideColumns columns;
  columns.emplace_back(kDefaultWideColumnName, slice);
  for (size_t i = 1; i < count; ++i) {
    columns.emplace_back(Slice(slice.data(), i),
                         Slice(slice.data() + i, slice.size() - i));
  }
  return columns;
}

namespace {

template <typename Kind, typename Make>
void Register(const std::string& name, const Make& make) {
  ObjectLibrary::Default()->AddFactory<Kind>(
      name,
      [make](const std::string&, std::unique_ptr<Kind>* made, std::string*) {
        *made = make();
        return made->get();
      });
}

template <typename Manager>
std::unique_ptr<CompressionManager> OverBuiltin() {
  return std::make_unique<Manager>(GetBuiltinV2CompressionManager());
}

bool RegisterAll() {
  Register<MergeOperator>("DBStressWideMergeOperator", [] {
    return std::make_unique<DBStressWideMergeOperator>();
  });
  Register<TablePropertiesCollectorFactory>(
      "DbStressTablePropertiesCollectorFactory", [] {
        return std::make_unique<DbStressTablePropertiesCollectorFactory>();
      });
  // By the name in tables, which are read with it.
  DbStressCustomCompressionManager::Register();
  // By the names in OPTIONS files.
  Register<CompressionManager>("DbStressCustomCompressionManager", [] {
    return std::make_unique<DbStressCustomCompressionManager>();
  });
  Register<CompressionManager>("RoundRobinManager",
                               OverBuiltin<RoundRobinManager>);
  Register<CompressionManager>("RandomMixedCompressionManager",
                               OverBuiltin<RandomMixedCompressionManager>);
  // It says the name of the one that it wraps.
  Register<CompressionManager>("BuiltinCompressionManagerV2",
                               OverBuiltin<AutoSkipCompressorManager>);
  return true;
}

[[maybe_unused]] const bool is_registered = RegisterAll();

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
