#include "sluice/worker/next_level_cuts.h"

#include <algorithm>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::Comparator;
using ROCKSDB_NAMESPACE::PartitionerRequest;
using ROCKSDB_NAMESPACE::PartitionerResult;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::SstPartitioner;

// A key on its way through the tables of the next level.
class NextLevelPosition {
 public:
  NextLevelPosition(std::shared_ptr<const NextLevelTables> tables,
                    const Comparator* order)
      : tables_(std::move(tables)), order_(order) {}

  // Moves on to a key; returns how many begins and ends of tables are passed.
  size_t MoveTo(const Slice& key) {
    size_t passed = 0;
    while (at_ < tables_->size() && (is_between_ ? Begins(key) : Ends(key))) {
      if (is_between_) {
        overlapped_bytes_ += (*tables_)[at_].bytes;
      } else {
        ++at_;
      }
      is_between_ = !is_between_;
      ++passed;
    }
    passed_ += passed;
    return passed;
  }
  // A table of the output begins with the key.
  void Begin() {
    passed_ = 0;
    overlapped_bytes_ = is_between_ ? 0 : (*tables_)[at_].bytes;
  }

  bool is_between() const { return is_between_; }
  // Since the begin of the table of the output.
  size_t passed() const { return passed_; }
  uint64_t overlapped_bytes() const { return overlapped_bytes_; }

 private:
  bool Begins(const Slice& key) const {
    return Compare(key, (*tables_)[at_].smallest) >= 0;
  }
  // The last table with a key is the one that it is in.
  bool Ends(const Slice& key) const {
    const int order = Compare(key, (*tables_)[at_].largest);
    const bool is_in_next = at_ + 1 < tables_->size() &&
                            Compare(key, (*tables_)[at_ + 1].smallest) >= 0;
    return order > 0 || (order == 0 && is_in_next);
  }
  int Compare(const Slice& left, const Slice& right) const {
    return order_->CompareWithoutTimestamp(left, right);
  }

  const std::shared_ptr<const NextLevelTables> tables_;
  const Comparator* const order_;
  size_t at_ = 0;
  // Whether the key is before the table, or in it.
  bool is_between_ = true;
  size_t passed_ = 0;
  uint64_t overlapped_bytes_ = 0;
};

class NextLevelCutter : public SstPartitioner {
 public:
  NextLevelCutter(std::unique_ptr<SstPartitioner> own, TableSizes sizes,
                  NextLevelPosition position)
      : own_(std::move(own)), sizes_(sizes), position_(std::move(position)) {}

  const char* Name() const override { return "SluiceNextLevelCutter"; }

  PartitionerResult ShouldPartition(
      const PartitionerRequest& request) override {
    FollowOutput(request);
    const uint64_t overlapped_before = position_.overlapped_bytes();
    const size_t passed = position_.MoveTo(*request.current_user_key);
    const bool is_own =
        own_ && own_->ShouldPartition(request) == PartitionerResult::kRequired;
    const bool is_cut =
        is_own || (passed > 0 && IsCut(request.current_output_file_size, passed,
                                       overlapped_before));
    is_new_ = is_cut;
    return is_cut ? PartitionerResult::kRequired
                  : PartitionerResult::kNotRequired;
  }
  bool CanDoTrivialMove(const Slice& smallest, const Slice& largest) override {
    return !own_ || own_->CanDoTrivialMove(smallest, largest);
  }

 private:
  // RocksDB ends tables that are full, and does not say so. The next one has
  // begun with the previous key, which is where the position is.
  void FollowOutput(const PartitionerRequest& request) {
    const uint64_t bytes = request.current_output_file_size;
    if (!has_begun_) position_.MoveTo(*request.prev_user_key);
    if (is_new_ || bytes < bytes_) position_.Begin();
    has_begun_ = true;
    bytes_ = bytes;
  }

  bool IsCut(uint64_t bytes, size_t passed, uint64_t overlapped_before) const {
    const uint64_t overlapped = position_.overlapped_bytes();
    // A later compaction would be too large.
    if (overlapped + bytes > sizes_.most_compacted) return true;
    // A whole table of the next level is left out.
    const size_t passed_by_skipping = position_.is_between() ? 2 : 3;
    if (passed >= passed_by_skipping &&
        overlapped - overlapped_before > sizes_.target / 8) {
      return true;
    }
    // The more places there were to end at, the likelier is another one before
    // the table is full.
    const uint64_t percent =
        50 + std::min<uint64_t>(5 * position_.passed(), 40);
    return bytes >= (sizes_.target + 99) / 100 * percent;
  }

  const std::unique_ptr<SstPartitioner> own_;
  const TableSizes sizes_;
  NextLevelPosition position_;
  bool has_begun_ = false;
  bool is_new_ = true;
  uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<SstPartitioner> NextLevelCuts::CreatePartitioner(
    const SstPartitioner::Context& context) const {
  return std::make_unique<NextLevelCutter>(
      own_ ? own_->CreatePartitioner(context) : nullptr, sizes_,
      NextLevelPosition(tables_, order_));
}

}  // namespace sluice
