// How much a block device has to do, as the kernel counts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Source: Documentation/admin-guide/iostats.rst of Linux. Procfs shows
// containers more than sysfs does.
class BlockDevice {
 public:
  // The device below the file system of a path; nothing for one in memory, on
  // the network, or of several devices.
  static std::optional<BlockDevice> Below(
      const std::string& path, std::string diskstats = "/proc/diskstats");

  // Requests that were given to the device and are not done; nothing if it is
  // gone.
  std::optional<uint64_t> QueueRequests() const;

 private:
  BlockDevice(unsigned major, unsigned minor, std::string diskstats)
      : major_(major), minor_(minor), diskstats_(std::move(diskstats)) {}

  unsigned major_;
  unsigned minor_;
  std::string diskstats_;
};

// The queue of a device in the text of diskstats.
std::optional<uint64_t> QueueRequestsIn(std::string_view diskstats,
                                        unsigned major, unsigned minor);

}  // namespace sluice
