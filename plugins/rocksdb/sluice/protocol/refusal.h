// Why a request is refused; it has changed nothing.
#pragma once

#include <string>

namespace sluice {

// Codes of the local protocol.
enum class ErrorCode {
  kParse = -32700,
  kRequest = -32600,
  kMethod = -32601,
  kInvalid = -32602,
  kInternal = -32603,
  kUnsupported = -32001,
  kConflict = -32002,
  kRefused = -32003,
  kNotFound = -32004,
  kUnavailable = -32005,
  kIncompatible = -32007,
};

struct Refusal {
  ErrorCode code;
  // What is wrong, in one sentence.
  std::string message;
  // What to do about it.
  std::string hint;
};

// The code as the word that goes with it.
const char* WordOf(ErrorCode code);

}  // namespace sluice
