// What the files of a log on two tiers are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// A log is a file on the fast tier, where the store wants it, and one on the
// slow tier if something was redirected. Both begin with a head; what follows
// are frames. Each frame says where in the log its data belongs, so that none
// has to be written twice: a reader takes whichever file has what comes next.
struct LogFrame {
  uint64_t log_offset = 0;
  // So much of the log was on stable storage before this frame was written.
  uint64_t synced_bytes = 0;
  uint32_t data_bytes = 0;
  // The log has a file on the slow tier. Once a reader has seen that, it does
  // without that file no more.
  bool has_slow_file = false;

  bool operator==(const LogFrame&) const = default;
};

inline constexpr size_t kFrameHeaderBytes = 36;
inline constexpr uint32_t kMaxFrameDataBytes = 64 << 20;

inline constexpr size_t kHeadBytes = 48;

// Drawn for each log, and in the checksum of each of its frames: a file of
// another log of that number, as of another database, has nothing for it.
using LogId = uint64_t;
LogId NewLogId();

// The head of the file on the fast tier. It is a record that RocksDB itself
// refuses, whatever its policies of transactions and recovery: a program
// without the plug-in must not take the log for one that has lost its end.
std::string FastHead(LogId id);
std::string SlowHead(LogId id);

// What a file begins with.
enum class HeadKind { kOther, kFast, kSlow, kDamaged };
struct LogHead {
  HeadKind kind = HeadKind::kOther;
  LogId id = 0;
};
LogHead ReadHead(std::string_view bytes);

// Writes `frame`, with the length of `data`, and the data behind `to`.
void AppendFrame(LogFrame frame, LogId id, std::string_view data,
                 std::string* to);

// What each frame begins with.
std::string_view FrameMagic();

// The header of a frame of this log, unless its checksum is wrong.
struct FrameHeader {
  LogFrame frame;
  uint32_t data_checksum = 0;
};
std::optional<FrameHeader> ReadFrameHeader(std::string_view bytes, LogId id);

bool HasChecksum(std::string_view data, uint32_t checksum);

}  // namespace sluice
