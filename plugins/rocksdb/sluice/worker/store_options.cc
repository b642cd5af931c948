#include "sluice/worker/store_options.h"

#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/utilities/options_util.h"
#include "util/string_util.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::EscapeOptionString;
using ROCKSDB_NAMESPACE::Status;

std::string OptionsPath(const std::string& database, uint64_t number) {
  std::string digits = std::to_string(number);
  constexpr size_t kDigits = 6;
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return database + "/OPTIONS-" + digits;
}

std::string Quoted(const std::string& family) {
  return " \"" + EscapeOptionString(family) + "\"]";
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The sections of the database and of one family. RocksDB wants one of the
// default family as well, in which nothing need be.
std::string SectionsOf(const std::string& text, const std::string& family) {
  std::istringstream lines(text);
  std::string kept;
  std::string line;
  bool is_kept = true;
  while (std::getline(lines, line)) {
    if (line.rfind('[', 0) == 0) {
      is_kept = !EndsWith(line, "\"]") || EndsWith(line, Quoted(family));
      const bool is_needed =
          line ==
          "[CFOptions" + Quoted(ROCKSDB_NAMESPACE::kDefaultColumnFamilyName);
      if (is_needed && !is_kept) kept += line + "\n";
    }
    if (is_kept) kept += line + "\n";
  }
  return kept;
}

}  // namespace

// RocksDB makes the objects of all families, or fails.
Status LoadStoreOptions(Env* env, const std::string& database_path,
                        const CompactionInput& input, StoreOptions* options) {
  std::string text;
  Status status = ReadFileToString(
      env, OptionsPath(database_path, input.options_file_number), &text);
  if (!status.ok()) return status;
  const std::unique_ptr<Env> memory(
      ROCKSDB_NAMESPACE::NewMemEnv(Env::Default()));
  const std::string path = "/OPTIONS";
  status =
      WriteStringToFile(memory.get(), SectionsOf(text, input.family), path);
  if (!status.ok()) return status;
  ConfigOptions how;
  how.ignore_unsupported_options = false;
  how.env = memory.get();
  std::vector<ColumnFamilyDescriptor> families;
  status = LoadOptionsFromFile(how, path, &options->database, &families);
  if (!status.ok()) return status;
  options->database.env = env;
  for (const auto& family : families) {
    if (family.name != input.family) continue;
    options->family = family.options;
    return Status::OK();
  }
  return Status::InvalidArgument("no column family", input.family);
}

}  // namespace sluice
