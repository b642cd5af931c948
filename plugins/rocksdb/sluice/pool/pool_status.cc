#include "sluice/pool/pool_status.h"

namespace sluice {

using ROCKSDB_NAMESPACE::IOStatus;

IOStatus StatusOf(const PoolAnswer& answer) {
  switch (answer.kind) {
    case PoolAnswer::Kind::kDone:
      return IOStatus::OK();
    case PoolAnswer::Kind::kBroken:
      return Retryable("the agent has ended the connection");
    case PoolAnswer::Kind::kRefused:
      break;
  }
  if (answer.reason == "not-found") {
    return IOStatus::PathNotFound(answer.message);
  }
  if (answer.reason == "full") return IOStatus::NoSpace(answer.message);
  // RocksDB copies then what it cannot link.
  if (answer.reason == "open") return IOStatus::NotSupported(answer.message);
  return answer.code == "unavailable" ? Retryable(answer.message)
                                      : IOStatus::IOError(answer.message);
}

IOStatus Retryable(const std::string& why) {
  IOStatus status = IOStatus::IOError(why);
  status.SetRetryable(true);
  return status;
}

IOStatus NotUnderstood(const std::string& method) {
  return IOStatus::IOError("the agent's answer to " + method +
                           " is not understood");
}

IOStatus OutOfMemory() { return IOStatus::IOError("out of memory"); }

bool IsFenced(const PoolAnswer& answer) { return answer.reason == "fenced"; }

bool MayChangeByItself(const PoolAnswer& answer) {
  return answer.kind == PoolAnswer::Kind::kBroken ||
         answer.code == "unavailable" || answer.reason == "lease-held" ||
         IsFenced(answer);
}

}  // namespace sluice
