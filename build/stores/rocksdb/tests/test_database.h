#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"

namespace hooks_test {

using namespace ROCKSDB_NAMESPACE;

// Fails the test, by an exception, with what RocksDB says.
inline void Require(const Status& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

// A database in a folder of its own, which is removed at the end.
class TestDatabase {
 public:
  static constexpr int kKeysPerFile = 100;

  TestDatabase() {
    std::string name =
        std::filesystem::temp_directory_path() / "rocksdb-hooks-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no folder can be made as " + name);
    }
    folder_ = name;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
  }

  ~TestDatabase() {
    Close();
    std::filesystem::remove_all(folder_);
  }

  std::string path() const { return folder_ / "db"; }

  Status TryOpen() {
    Close();
    return DB::Open(options, path(), &db);
  }

  void Open() { Require(TryOpen()); }

  // Opens it with the default family and the one named.
  void OpenWithFamily(const std::string& name) {
    Close();
    const std::vector<ColumnFamilyDescriptor> families = {
        {kDefaultColumnFamilyName, options}, {name, options}};
    Require(DB::Open(options, path(), families, &handles, &db));
  }

  void Close() {
    for (ColumnFamilyHandle* handle : handles) {
      Require(db->DestroyColumnFamilyHandle(handle));
    }
    handles.clear();
    db.reset();
  }

  // Makes COUNT files of level 0, each with the same keys.
  void WriteFiles(int count, ColumnFamilyHandle* family = nullptr) {
    family = family == nullptr ? db->DefaultColumnFamily() : family;
    for (int file = 0; file < count; ++file) {
      for (int key = 0; key < kKeysPerFile; ++key) {
        Require(
            db->Put(WriteOptions(), family, Key(key), "value of " + Key(key)));
      }
      Require(db->Flush(FlushOptions(), family));
    }
  }

  // Rows that a scan gives before it ends or fails.
  int CountRows() const {
    std::unique_ptr<Iterator> rows(db->NewIterator(ReadOptions()));
    int count = 0;
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      count += rows->value() == "value of " + rows->key().ToString();
    }
    return rows->status().ok() ? count : -1;
  }

  uint64_t FilesAtLevel0(ColumnFamilyHandle* family) const {
    std::string value;
    if (!db->GetProperty(family, DB::Properties::kNumFilesAtLevelPrefix + "0",
                         &value)) {
      throw std::runtime_error(
          "the database does not know its files of level 0");
    }
    return std::stoull(value);
  }

  std::string InfoLog() const { return FileText("LOG"); }

  std::string FileText(const std::string& name) const {
    std::ifstream file(path() + "/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // Text of all OPTIONS files.
  std::string OptionsText() const {
    std::string text;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      const std::string name = entry.path().filename();
      text += name.starts_with("OPTIONS-") ? FileText(name) : "";
    }
    return text;
  }

  Options options;
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;

 private:
  static std::string Key(int number) {
    return "key " + std::to_string(1000 + number);
  }

  std::filesystem::path folder_;
};

}  // namespace hooks_test
