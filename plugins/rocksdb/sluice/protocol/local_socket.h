// Sockets of other programs on this node.
#pragma once

#include <string>

#include "sluice/protocol/file_descriptor.h"

namespace sluice {

// A connection to a Unix socket, which is closed in programs that this one
// executes; not open if nobody listens there. Flags are those of socket(2).
FileDescriptor ConnectTo(const std::string& path, int flags);

}  // namespace sluice
