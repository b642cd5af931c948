#include "sluice/pool/pool_session.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "sluice/pool/pool_status.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IOStatus;

constexpr std::chrono::milliseconds kPause(100);
// Connections that end for another reason than that the agent is gone.
constexpr int kMostAttempts = 3;
constexpr size_t kMostIdleConnections = 64;
constexpr uint64_t kMinorVersionWithWorkers = 1;

Json FileParams(const PoolFile& file) { return {{"file", file.number}}; }

}  // namespace

IOStatus PoolSession::Look(const char* method, Json params, Json* result) {
  return Ask({.method = method, .params = std::move(params)}, result, nullptr);
}

IOStatus PoolSession::Change(const char* method, Json params) {
  return Ask({.method = method, .params = std::move(params), .is_change = true},
             nullptr, nullptr);
}

IOStatus PoolSession::Open(const std::string& path, PoolFile* file) {
  return OpenBy("open", false, path, file);
}

IOStatus PoolSession::Create(const std::string& path, PoolFile* file) {
  return OpenBy("create", true, path, file);
}

IOStatus PoolSession::OpenBy(const char* method, bool is_change,
                             const std::string& path, PoolFile* file) {
  Json result;
  IOStatus status = Ask(
      {.method = method, .params = {{"path", path}}, .is_change = is_change},
      &result, &file->generation);
  if (!status.ok()) return status;
  const auto number = CountIn(result, "file");
  const auto length = CountIn(result, "length_bytes");
  const auto id = TextIn(result, "id");
  if (!number || !length || !id) return NotUnderstood(method);
  file->number = *number;
  file->length_bytes = *length;
  file->id = *id;
  return status;
}

IOStatus PoolSession::Read(const PoolFile& file, uint64_t offset, size_t bytes,
                           char* to, size_t* count) {
  Json result;
  Json params = FileParams(file);
  params["offset_bytes"] = offset;
  params["length_bytes"] = bytes;
  IOStatus status = Ask({.method = "read",
                         .params = std::move(params),
                         .generation = file.generation,
                         .to = to,
                         .room = bytes},
                        &result, nullptr);
  *count = status.ok() ? CountIn(result, "bytes").value_or(0) : 0;
  return status;
}

IOStatus PoolSession::Append(const PoolFile& file, std::string_view data) {
  for (size_t done = 0; done < data.size();) {
    const auto part = data.substr(done, kMaxPoolPayloadBytes);
    Json params = FileParams(file);
    params["bytes"] = part.size();
    IOStatus status = Ask({.method = "append",
                           .params = std::move(params),
                           .is_change = true,
                           .generation = file.generation,
                           .payload = part},
                          nullptr, nullptr);
    if (!status.ok()) return status;
    done += part.size();
  }
  return IOStatus::OK();
}

IOStatus PoolSession::Sync(const PoolFile& file) {
  return AskFile("sync", file, true);
}

IOStatus PoolSession::Seal(const PoolFile& file) {
  return AskFile("seal", file, true);
}

void PoolSession::Close(const PoolFile& file) {
  // The session ends with the file in it, if it cannot be closed.
  AskFile("close", file, false).PermitUncheckedError();
}

IOStatus PoolSession::AskFile(const char* method, const PoolFile& file,
                              bool is_change) {
  return Ask({.method = method,
              .params = FileParams(file),
              .is_change = is_change,
              .generation = file.generation},
             nullptr, nullptr);
}

IOStatus PoolSession::Ask(const Request& request, Json* result,
                          uint64_t* generation) {
  for (int attempt = 1;; ++attempt) {
    Lane lane;
    IOStatus status = Take(request, &lane);
    if (!status.ok()) return status;
    PoolAnswer answer = Exchange(lane.connection.get(), request);
    if (answer.kind != PoolAnswer::Kind::kBroken) {
      if (generation != nullptr) *generation = lane.generation;
      GiveBack(std::move(lane));
      if (result != nullptr) *result = std::move(answer.result);
      return StatusOf(answer);
    }
    NoteBroken(lane);
    if (request.is_change || attempt == kMostAttempts) {
      return Retryable(std::string("the agent did not answer to ") +
                       request.method);
    }
  }
}

PoolAnswer PoolSession::Exchange(PoolConnection* connection,
                                 const Request& request) {
  const auto line = connection->Exchange(
      PoolRequest(request.method, request.params), request.payload);
  if (!line) return PoolAnswer();
  PoolAnswer answer = ReadPoolAnswer(*line);
  if (request.to == nullptr || answer.kind != PoolAnswer::Kind::kDone) {
    return answer;
  }
  const auto bytes = CountIn(answer.result, "bytes");
  if (!bytes || *bytes > request.room ||
      !connection->Receive(request.to, *bytes)) {
    return PoolAnswer();
  }
  return answer;
}

IOStatus PoolSession::Hold() {
  Lane lane;
  IOStatus status = Take({.method = "attach", .is_change = true}, &lane);
  if (status.ok()) GiveBack(std::move(lane));
  return status;
}

IOStatus PoolSession::HoldForWorkers(std::string* name) {
  IOStatus status = Hold();
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  if (minor_version_ < kMinorVersionWithWorkers) {
    return IOStatus::NotSupported(
        "the agent knows nothing of workers in a pool: upgrade it");
  }
  *name = name_;
  return status;
}

// An agent that does not know the method would end the session.
IOStatus PoolSession::Release(const std::string& path) {
  std::string name;
  IOStatus status = HoldForWorkers(&name);
  return status.ok() ? Change("release", {{"path", path}}) : status;
}

void PoolSession::End() {
  std::lock_guard<std::mutex> lock(mutex_);
  Forget();
  // Its files are of no session any more.
  ++generation_;
  has_lease_ = false;
  lock_.clear();
  gone_since_.reset();
  lost_ = IOStatus::OK();
}

IOStatus PoolSession::Take(const Request& request, Lane* lane) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (request.is_change && settings_.is_read_only) {
    return IOStatus::NotSupported("the pool's files are opened read-only");
  }
  for (;;) {
    if (!lost_.ok()) return lost_;
    const bool is_former =
        request.generation != 0 && request.generation != generation_;
    if (is_former) return IOStatus::Aborted("a file of a former session");
    if (first_ && first_->HasEnded()) Forget();
    if (!first_ || (request.is_change && !has_lease_)) {
      IOStatus status = Begin(request.is_change || has_lease_);
      if (!status.ok()) return status;
      // The file of the request may be of a former one now.
      continue;
    }
    lane->generation = generation_;
    if (idle_.empty()) return Join(lane);
    lane->connection = std::move(idle_.back());
    idle_.pop_back();
    if (!lane->connection->HasEnded()) return IOStatus::OK();
  }
}

void PoolSession::GiveBack(Lane lane) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool is_wanted =
      lane.generation == generation_ && idle_.size() < kMostIdleConnections;
  if (is_wanted) idle_.push_back(std::move(lane.connection));
}

void PoolSession::NoteBroken(const Lane& lane) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool is_over =
      lane.generation == generation_ && first_ && first_->HasEnded();
  if (is_over) Forget();
}

void PoolSession::Forget() {
  first_.reset();
  idle_.clear();
}

IOStatus PoolSession::Begin(bool with_lease) {
  for (;;) {
    bool may_wait = false;
    IOStatus status = TryToBegin(with_lease, &may_wait);
    if (status.ok()) gone_since_.reset();
    if (status.ok() || !may_wait || !MayWaitOn()) return status;
    std::this_thread::sleep_for(kPause);
  }
}

// All that wait do so from the same moment on: each of them by itself would
// make it as many times as long.
bool PoolSession::MayWaitOn() {
  const TimePoint now = clock_->Now();
  if (!gone_since_) gone_since_ = now;
  return now - *gone_since_ <
         std::chrono::duration<double>(settings_.wait_seconds);
}

IOStatus PoolSession::TryToBegin(bool with_lease, bool* may_wait) {
  if (has_lease_ && IsNested()) {
    // Another one may have been let into the directory since.
    lost_ = IOStatus::IOError(
        "the agent has ended the session in " + settings_.place.directory +
        ", and it cannot be gone on with: begin the work anew");
    return lost_;
  }
  *may_wait = true;
  auto connection = std::make_unique<PoolConnection>(settings_.agent_socket);
  if (!connection->IsOpen()) {
    return Retryable(
        "no agent serves " + settings_.agent_socket +
        ": start it, with pool.client.socket in its configuration");
  }
  const PoolAnswer answer =
      Exchange(connection.get(),
               {.method = with_lease ? "attach" : "view",
                .params = with_lease ? AttachParams(settings_.place, lock_)
                                     : ViewParams(settings_.place)});
  IOStatus status = StatusOf(answer);
  if (!status.ok()) {
    const bool is_lost = with_lease && !lock_.empty() && IsFenced(answer);
    if (is_lost) lost_ = status;
    *may_wait = !is_lost && MayChangeByItself(answer);
    return status;
  }
  const auto name = TextIn(answer.result, "session");
  const auto lock = TextIn(answer.result, "lock");
  const bool needs_lock = with_lease && !IsNested();
  if (!name || (needs_lock && !lock)) return NotUnderstood("attach");
  Forget();
  first_ = std::move(connection);
  name_ = *name;
  minor_version_ = MinorVersionIn(answer.result);
  has_lease_ = with_lease;
  lock_ = lock.value_or("");
  ++generation_;
  return status;
}

IOStatus PoolSession::Join(Lane* lane) {
  lane->connection = std::make_unique<PoolConnection>(settings_.agent_socket);
  if (!lane->connection->IsOpen()) {
    return Retryable("the agent takes no more connections");
  }
  const Request request = {.method = "join", .params = JoinParams(name_)};
  return StatusOf(Exchange(lane->connection.get(), request));
}

}  // namespace sluice
