#include "sluice/remote/compaction_payload.h"

#include <cstddef>
#include <set>
#include <string_view>
#include <unordered_map>

#include "db/compaction/compaction_job.h"
#include "db/dbformat.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/options_type.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompactionServiceInput;
using ROCKSDB_NAMESPACE::CompactionServiceResult;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::kNumInternalBytes;
using ROCKSDB_NAMESPACE::OptionType;
using ROCKSDB_NAMESPACE::OptionTypeFlags;
using ROCKSDB_NAMESPACE::OptionTypeInfo;
using ROCKSDB_NAMESPACE::OptionVerificationType;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using OptionTypes = std::unordered_map<std::string, OptionTypeInfo>;

// RocksDB's number 1, of 32 bits with the lowest first: text whose members are
// NAME=VALUE;.
constexpr std::string_view kTextFormat("\1\0\0\0", 4);

// What is looked at of a result. Most of one are properties of its tables: to
// read them as well would take three times as long, and RocksDB does it anyway.
struct OutputFile {
  std::string name;
  uint64_t bytes = 0;
  std::string smallest_key;
  std::string largest_key;
};
struct Output {
  uint8_t status_code = 0;
  std::string path;
  std::vector<OutputFile> files;
};

OptionTypeInfo Struct(const char* name, const OptionTypes* members) {
  return OptionTypeInfo::Struct(name, members, 0,
                                OptionVerificationType::kNormal,
                                OptionTypeFlags::kNone);
}

const OptionTypes& OutputTypes() {
  static const OptionTypes kStatus = {
      {"code", {offsetof(Output, status_code), OptionType::kUInt8T}}};
  static const OptionTypes kFile = {
      {"file_name", {offsetof(OutputFile, name), OptionType::kEncodedString}},
      {"file_size", {offsetof(OutputFile, bytes), OptionType::kUInt64T}},
      {"smallest_internal_key",
       {offsetof(OutputFile, smallest_key), OptionType::kEncodedString}},
      {"largest_internal_key",
       {offsetof(OutputFile, largest_key), OptionType::kEncodedString}}};
  static const OptionTypes kOutput = {
      {"status", Struct("status", &kStatus)},
      {"output_path", {offsetof(Output, path), OptionType::kEncodedString}},
      {"output_files",
       OptionTypeInfo::Vector<OutputFile>(
           offsetof(Output, files), OptionVerificationType::kNormal,
           OptionTypeFlags::kNone, Struct("output_files", &kFile))}};
  return kOutput;
}

bool IsText(const std::string& payload) {
  return payload.size() > kTextFormat.size() &&
         payload.starts_with(kTextFormat);
}

Status ReadOutput(const std::string& payload, Output* output) {
  if (!IsText(payload)) return Status::NotSupported("its format is not known");
  ConfigOptions how;
  how.invoke_prepare_options = false;
  how.ignore_unknown_options = true;
  return OptionTypeInfo::ParseType(how, payload.substr(kTextFormat.size()),
                                   OutputTypes(), output);
}

// For who reads.
std::string StatusOf(const std::string& payload) {
  CompactionServiceResult result;
  CompactionServiceResult::Read(payload, &result).PermitUncheckedError();
  return result.status.ToString();
}

std::string PathMember(const std::string& path) {
  return "output_path=" + Slice(path).ToString(/*hex=*/true) + ";";
}

std::string WhyNotInstallable(const OutputFile& file,
                              const std::string& output_path,
                              const JobFiles& files) {
  const std::string& name = file.name;
  if (name.empty() || name.find('/') != std::string::npos) {
    return "the result names a file outside of the output path";
  }
  if (file.smallest_key.size() < kNumInternalBytes ||
      file.largest_key.size() < kNumInternalBytes) {
    return "the result gives no range of keys for the output file " + name;
  }
  // The store opens it once it is installed, when it is too late to refuse.
  const auto bytes = files.OutputBytes(output_path + "/" + name);
  if (!bytes) {
    return "the output file " + name + " is not there, or not to be read";
  }
  if (*bytes == 0 || *bytes != file.bytes) {
    return "the output file " + name + " has " + std::to_string(*bytes) +
           " bytes, the result says " + std::to_string(file.bytes);
  }
  return "";
}

}  // namespace

bool ReadCompactionInput(const std::string& payload, CompactionInput* input) {
  CompactionServiceInput read;
  if (!CompactionServiceInput::Read(payload, &read).ok()) return false;
  input->family = std::move(read.cf_name);
  input->files = std::move(read.input_files);
  input->options_file_number = read.options_file_number;
  if (read.has_begin) input->begin = std::move(read.begin);
  if (read.has_end) input->end = std::move(read.end);
  return true;
}

// The result is text, of which no other member is the same: a path is written
// in hexadecimal digits. To read and write it as a whole would take longer than
// to open the database.
bool ExchangeOutputPath(const std::string& from, const std::string& to,
                        std::string* payload) {
  const std::string member = PathMember(from);
  const size_t at = payload->find(member);
  const bool is_once = at != std::string::npos &&
                       payload->find(member, at + 1) == std::string::npos;
  if (!is_once || !IsText(*payload)) return false;
  payload->replace(at, member.size(), PathMember(to));
  return true;
}

std::string WhyNotInstallable(const std::string& payload,
                              const std::string& output_path,
                              const JobFiles& files) {
  Output output;
  const auto read = ReadOutput(payload, &output);
  if (!read.ok()) return "the result cannot be read: " + read.ToString();
  if (output.status_code != Status::kOk) {
    return "it failed: " + StatusOf(payload);
  }
  if (output.path != output_path) return "the result is in another folder";
  std::set<std::string> names;
  for (const auto& file : output.files) {
    if (!names.insert(file.name).second) {
      return "the result names the output file " + file.name + " twice";
    }
    std::string reason = WhyNotInstallable(file, output_path, files);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace sluice
