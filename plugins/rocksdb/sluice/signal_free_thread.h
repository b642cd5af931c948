// Threads of the plug-in in a program that is not its own.
#pragma once

#include <functional>
#include <thread>

namespace sluice {

// Starts a thread that no signal of the program is delivered to. The name has
// at most 15 bytes.
std::thread StartSignalFreeThread(const char* name, std::function<void()> body);

}  // namespace sluice
