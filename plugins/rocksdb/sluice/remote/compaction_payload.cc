#include "sluice/remote/compaction_payload.h"

#include <set>

#include "db/compaction/compaction_job.h"
#include "db/dbformat.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompactionServiceInput;
using ROCKSDB_NAMESPACE::CompactionServiceOutputFile;
using ROCKSDB_NAMESPACE::CompactionServiceResult;
using ROCKSDB_NAMESPACE::kNumInternalBytes;

std::string WhyNotInstallable(const CompactionServiceOutputFile& file,
                              const std::string& output_path,
                              const JobFiles& files) {
  const std::string& name = file.file_name;
  if (name.empty() || name.find('/') != std::string::npos) {
    return "the result names a file outside of the output path";
  }
  if (file.smallest_internal_key.size() < kNumInternalBytes ||
      file.largest_internal_key.size() < kNumInternalBytes) {
    return "the result gives no range of keys for the output file " + name;
  }
  // The store opens it once it is installed, when it is too late to refuse.
  const auto bytes = files.OutputBytes(output_path + "/" + name);
  if (!bytes) {
    return "the output file " + name + " is not there, or not to be read";
  }
  if (*bytes == 0 || *bytes != file.file_size) {
    return "the output file " + name + " has " + std::to_string(*bytes) +
           " bytes, the result says " + std::to_string(file.file_size);
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

bool SetOutputPath(const std::string& path, std::string* payload) {
  CompactionServiceResult result;
  const auto read = CompactionServiceResult::Read(*payload, &result);
  result.status.PermitUncheckedError();
  if (!read.ok()) return false;
  result.output_path = path;
  payload->clear();
  return result.Write(payload).ok();
}

std::string WhyNotInstallable(const std::string& payload,
                              const std::string& output_path,
                              const JobFiles& files) {
  CompactionServiceResult result;
  const auto read = CompactionServiceResult::Read(payload, &result);
  if (!read.ok()) {
    result.status.PermitUncheckedError();
    return "the result cannot be read: " + read.ToString();
  }
  if (!result.status.ok()) return "it failed: " + result.status.ToString();
  if (result.output_path != output_path) {
    return "the result is in another folder";
  }
  std::set<std::string> names;
  for (const auto& file : result.output_files) {
    if (!names.insert(file.file_name).second) {
      return "the result names the output file " + file.file_name + " twice";
    }
    std::string reason = WhyNotInstallable(file, output_path, files);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace sluice
