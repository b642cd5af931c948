// Databases that measurements fill and compact:
//
//   compacted_databases OPTIONS DATABASE...
//
// opens them, and carries out its input line by line until that ends. Each
// line is answered by the seconds that it took, the opening as well.
//
//   fill DATABASE KEYS VALUE_BYTES      new values, compacted to the last level
//   compact DATABASE FIRST_KEY END_KEY  the tables that have these keys
//   read DATABASE KEYS THREADS          random ones of the first, by so many
//                                       threads in place of those before
//   count DATABASE                      answered by how many were read since
//
// A database is named by its path, and keys are whole numbers. What fails is
// told on standard error and ends the program.
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"

namespace {

using rocksdb::DB;
using rocksdb::Status;
std::string KeyOf(uint64_t number) {
  char key[21];
  std::snprintf(key, sizeof key, "%016" PRIu64, number);
  return key;
}

// No compression makes it smaller.
std::string RandomValue(size_t bytes, std::mt19937_64* random) {
  std::string value;
  while (value.size() < bytes) {
    const uint64_t word = (*random)();
    value.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  value.resize(bytes);
  return value;
}

// Requests of clients that keep the processor busy.
class Readers {
 public:
  Readers(DB* database, uint64_t keys, uint64_t threads) {
    for (uint64_t seed = 0; seed < threads; seed++) {
      threads_.emplace_back([=, this] { Read(database, keys, seed); });
    }
  }
  ~Readers() {
    has_ended_ = true;
    for (std::thread& each : threads_) each.join();
  }

  uint64_t count() const { return count_; }

 private:
  void Read(DB* database, uint64_t keys, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string value;
    while (!has_ended_) {
      const Status read =
          database->Get(rocksdb::ReadOptions(), KeyOf(random() % keys), &value);
      if (!read.ok()) {
        std::cerr << read.ToString() << std::endl;
        std::_Exit(1);
      }
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::atomic<bool> has_ended_{false};
  std::atomic<uint64_t> count_{0};
  std::vector<std::thread> threads_;
};

// Readers end before it is closed.
struct Database {
  std::unique_ptr<DB> db;
  std::unique_ptr<Readers> readers;
};
using Databases = std::map<std::string, Database>;

Status Compact(DB* database, const rocksdb::Slice* first,
               const rocksdb::Slice* end) {
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  return database->CompactRange(options, first, end);
}

Status Fill(DB* database, uint64_t keys, size_t value_bytes) {
  std::mt19937_64 random(keys);
  rocksdb::WriteOptions without_log;
  without_log.disableWAL = true;
  for (uint64_t key = 0; key < keys; key++) {
    const Status put = database->Put(without_log, KeyOf(key),
                                     RandomValue(value_bytes, &random));
    if (!put.ok()) return put;
  }
  // Moved by themselves, tables would be as large as they were in memory.
  const Status done = Compact(database, nullptr, nullptr);
  if (!done.ok()) return done;
  return database->WaitForCompact(rocksdb::WaitForCompactOptions());
}

Status CompactKeys(DB* database, uint64_t first, uint64_t end) {
  const std::string first_key = KeyOf(first);
  // The end of a range of RocksDB's belongs to it.
  const std::string last_key = KeyOf(end - 1);
  const rocksdb::Slice from(first_key);
  const rocksdb::Slice to(last_key);
  return Compact(database, &from, &to);
}

Status CarryOut(const std::string& command, uint64_t first, uint64_t second,
                Database* database) {
  DB* const db = database->db.get();
  if (command == "fill") return Fill(db, first, second);
  if (command == "compact" && first < second) {
    return CompactKeys(db, first, second);
  }
  if (command == "read" && first > 0) {
    database->readers.reset();
    database->readers = std::make_unique<Readers>(db, first, second);
    return Status::OK();
  }
  return Status::InvalidArgument("not a command", command);
}

Status Open(const char* text, int count, char** paths, Databases* databases) {
  for (int i = 0; i < count; i++) {
    rocksdb::ConfigOptions strict;
    strict.ignore_unsupported_options = false;
    rocksdb::Options options;
    const Status parsed =
        rocksdb::GetOptionsFromString(strict, options, text, &options);
    if (!parsed.ok()) return parsed;
    const Status opened =
        DB::Open(options, paths[i], &(*databases)[paths[i]].db);
    if (!opened.ok()) return opened;
  }
  return Status::OK();
}

// Whether it was carried out; says how long it took, or what was wrong.
template <typename Work>
bool Timed(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  const Status status = work();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  if (!status.ok()) {
    std::cerr << status.ToString() << std::endl;
    return false;
  }
  std::cout << took.count() << std::endl;
  return true;
}

// Whether it was answered.
bool Answered(const std::string& line, Databases* databases) {
  std::istringstream words(line);
  std::string command;
  std::string path;
  uint64_t first = 0;
  uint64_t second = 0;
  words >> command >> path;
  const auto database = databases->find(path);
  if (database == databases->end()) {
    std::cerr << "no database is named: " << line << std::endl;
    return false;
  }
  if (command == "count" && database->second.readers) {
    std::cout << database->second.readers->count() << std::endl;
    return true;
  }
  words >> first >> second;
  return Timed(
      [&] { return CarryOut(command, first, second, &database->second); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: compacted_databases OPTIONS DATABASE..." << std::endl;
    return 2;
  }
  Databases databases;
  if (!Timed([&] { return Open(argv[1], argc - 2, argv + 2, &databases); })) {
    return 1;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!Answered(line, &databases)) return 1;
  }
  return 0;
}
