#include "sluice/protocol/refusal.h"

namespace sluice {

const char* WordOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kParse:
    case ErrorCode::kRequest:
    case ErrorCode::kIncompatible:
      return "incompatible";
    case ErrorCode::kMethod:
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kInternal:
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kRefused:
      return "refused";
    case ErrorCode::kNotFound:
      return "not-found";
  }
  return "invalid";
}

}  // namespace sluice
