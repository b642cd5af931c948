#include "sluice/log/block_device.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "sluice/protocol/file_descriptor.h"

namespace sluice {
namespace {

// Of a line: major, minor and name of the device, then counters.
constexpr size_t kMajor = 0;
constexpr size_t kMinor = 1;
constexpr size_t kInFlight = 11;

using Fields = std::array<std::string_view, kInFlight + 1>;

// The first fields of a line, or nothing if it has fewer.
std::optional<Fields> Split(std::string_view line) {
  Fields fields;
  for (std::string_view& field : fields) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    line.remove_prefix(begin);
    field = line.substr(0, line.find(' '));
    line.remove_prefix(field.size());
  }
  return fields;
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

std::optional<std::string> Contents(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.IsOpen()) return std::nullopt;
  std::string contents;
  std::array<char, 16 << 10> part;
  for (;;) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return contents;
    contents.append(part.data(), static_cast<size_t>(count));
  }
}

}  // namespace

std::optional<uint64_t> QueueRequestsIn(std::string_view diskstats,
                                        unsigned major, unsigned minor) {
  while (!diskstats.empty()) {
    const size_t end = diskstats.find('\n');
    const auto fields = Split(diskstats.substr(0, end));
    if (fields && Number((*fields)[kMajor]) == major &&
        Number((*fields)[kMinor]) == minor) {
      return Number((*fields)[kInFlight]);
    }
    if (end == std::string_view::npos) break;
    diskstats.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::optional<BlockDevice> BlockDevice::Below(const std::string& path,
                                              std::string diskstats) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  BlockDevice device(major(status.st_dev), minor(status.st_dev),
                     std::move(diskstats));
  if (!device.QueueRequests()) return std::nullopt;
  return device;
}

std::optional<uint64_t> BlockDevice::QueueRequests() const {
  const auto contents = Contents(diskstats_);
  return contents ? QueueRequestsIn(*contents, major_, minor_) : std::nullopt;
}

}  // namespace sluice
