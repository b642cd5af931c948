// What RocksDB itself writes of a compaction that goes to a worker. Alone
// here in using its internal headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/remote/job_files.h"

namespace sluice {

struct CompactionInput {
  std::string family;
  std::vector<std::string> files;
  uint64_t options_file_number = 0;
  // Of its keys the part from `begin` to before `end`.
  std::optional<std::string> begin;
  std::optional<std::string> end;
};

// False if it is not what this version of RocksDB writes.
bool ReadCompactionInput(const std::string& payload, CompactionInput* input);

// Puts another folder of the output files into a result; false if it is none
// of the first one.
bool ExchangeOutputPath(const std::string& from, const std::string& to,
                        std::string* payload);

// Why a result must not be installed; empty if it may be. Once installation
// has begun, anything wrong with it stops the store's writes. What is not
// looked at RocksDB reads before that, and compacts by itself if it cannot.
std::string WhyNotInstallable(const std::string& payload,
                              const std::string& output_path,
                              const JobFiles& files);

}  // namespace sluice
