// A database that says which rows have to survive:
//
//   acknowledged_rows OPTIONS DATABASE write
//   acknowledged_rows OPTIONS DATABASE persist
//   acknowledged_rows OPTIONS DATABASE check
//
// `write` goes on from the last row until it is killed. Every fourth row is
// synced, and its number is printed then: all up to it are on stable storage.
// Earlier rows are written again, as they were: tables overlap, and are
// compacted. Rows of a second family, which is hardly ever flushed, keep logs
// that have been closed. `persist` does the same, and writes a row that fails
// again for up to two minutes. `check` prints the number of the last row; it
// fails if one before it is missing or wrong.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"

namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::Status;

constexpr uint64_t kSyncEvery = 4;
constexpr uint64_t kKeepEvery = 40;

void Require(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "acknowledged_rows: %s\n", status.ToString().c_str());
  std::exit(EXIT_FAILURE);
}

std::string KeyOf(uint64_t number) {
  char key[21];
  std::snprintf(key, sizeof key, "%016" PRIu64, number);
  return key;
}

// Of 100 to 20000 bytes.
std::string ValueOf(uint64_t number) {
  const size_t bytes = 100 + number * 7919 % 199 * 100;
  std::string value = std::to_string(number) + ' ';
  value.resize(bytes, static_cast<char>('a' + number % 26));
  return value;
}

struct Opened {
  std::unique_ptr<DB> db;
  ColumnFamilyHandle *rows = nullptr;
  ColumnFamilyHandle *kept = nullptr;

  ~Opened() {
    for (ColumnFamilyHandle *const family : {rows, kept}) {
      db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
  }
};

void Open(const std::string &text, const std::string &path, Opened *opened) {
  rocksdb::ConfigOptions how;
  how.ignore_unsupported_options = false;
  rocksdb::DBOptions plain;
  plain.create_if_missing = true;
  plain.create_missing_column_families = true;
  // Logs of the second family go once they are so large together.
  plain.max_total_wal_size = 64 << 20;
  rocksdb::DBOptions options;
  Require(rocksdb::GetDBOptionsFromString(how, plain, text, &options));
  ColumnFamilyOptions small;
  small.write_buffer_size = 1 << 20;
  ColumnFamilyOptions large;
  large.write_buffer_size = 256 << 20;
  std::vector<ColumnFamilyHandle *> families;
  Require(
      DB::Open(options, path,
               {{rocksdb::kDefaultColumnFamilyName, small}, {"kept", large}},
               &families, &opened->db));
  opened->rows = families[0];
  opened->kept = families[1];
}

// The last row, with all before it as they were written.
uint64_t CheckedRows(const Opened &opened) {
  const std::unique_ptr<rocksdb::Iterator> rows(
      opened.db->NewIterator(rocksdb::ReadOptions(), opened.rows));
  uint64_t last = 0;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ++last;
    if (rows->key() == KeyOf(last) && rows->value() == ValueOf(last))
      continue;
    Require(Status::Corruption("row " + std::to_string(last),
                               "found " + rows->key().ToString()));
  }
  Require(rows->status());
  return last;
}

using Clock = std::chrono::steady_clock;
constexpr std::chrono::minutes kPatience(2);
constexpr std::chrono::milliseconds kPause(50);

class Rows {
public:
  Rows(DB *db, bool persists) : db_(db), persists_(persists) {}

  void Put(bool sync, ColumnFamilyHandle *family, uint64_t number,
           const std::string &value) const {
    rocksdb::WriteOptions options;
    options.sync = sync;
    const auto end = Clock::now() + kPatience;
    Status status = db_->Put(options, family, KeyOf(number), value);
    while (!status.ok() && persists_ && Clock::now() < end) {
      std::this_thread::sleep_for(kPause);
      status = db_->Put(options, family, KeyOf(number), value);
    }
    Require(status);
  }

private:
  DB *const db_;
  const bool persists_;
};

void Write(const Opened &opened, bool persists) {
  const Rows rows(opened.db.get(), persists);
  for (uint64_t number = CheckedRows(opened) + 1;; ++number) {
    const bool sync = number % kSyncEvery == 0;
    if (number % kKeepEvery == 0)
      rows.Put(false, opened.kept, number, "kept");
    if (number % kSyncEvery == 1)
      rows.Put(false, opened.rows, number / 2 + 1, ValueOf(number / 2 + 1));
    rows.Put(sync, opened.rows, number, ValueOf(number));
    if (!sync)
      continue;
    std::printf("%" PRIu64 "\n", number);
    std::fflush(stdout);
  }
}

} // namespace

int main(int count, char **arguments) {
  const std::string what = count == 4 ? arguments[3] : "";
  const bool writes = what == "write" || what == "persist";
  if (!writes && what != "check") {
    std::fprintf(
        stderr,
        "Usage: acknowledged_rows OPTIONS DATABASE write|persist|check\n");
    return 2;
  }
  Opened opened;
  Open(arguments[1], arguments[2], &opened);
  if (writes)
    Write(opened, what == "persist");
  std::printf("%" PRIu64 "\n", CheckedRows(opened));
  return EXIT_SUCCESS;
}
