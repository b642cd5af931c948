#include "sluice/remote/compaction_payload.h"

#include <sys/stat.h>

#include "db/compaction/compaction_job.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompactionServiceInput;
using ROCKSDB_NAMESPACE::CompactionServiceOutputFile;
using ROCKSDB_NAMESPACE::CompactionServiceResult;

std::string WhyNotInstallable(const CompactionServiceOutputFile& file,
                              const std::string& output_path) {
  const std::string& name = file.file_name;
  if (name.empty() || name.find('/') != std::string::npos) {
    return "the result names a file outside of the output path";
  }
  struct stat status;
  if (::stat((output_path + "/" + name).c_str(), &status) != 0 ||
      !S_ISREG(status.st_mode)) {
    return "the output file " + name + " is not there";
  }
  if (status.st_size == 0 ||
      static_cast<uint64_t>(status.st_size) != file.file_size) {
    return "the output file " + name + " has " +
           std::to_string(status.st_size) + " bytes, the result says " +
           std::to_string(file.file_size);
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
  return true;
}

std::string WhyNotInstallable(const std::string& payload,
                              const std::string& output_path) {
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
  for (const auto& file : result.output_files) {
    std::string reason = WhyNotInstallable(file, output_path);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace sluice
