// An agent with the worker on this node, for tests of the two.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "sluice/child_process.h"
#include "sluice/protocol/json.h"
#include "sluice/protocol/socket_place.h"

namespace sluice {

// Takes one job after the other, and gives each to a worker process. What it
// does wrong is up to the test.
class WorkerAgent {
 public:
  using LineFilter = std::function<std::string(const Json& job, std::string)>;

  WorkerAgent(const std::string& folder, std::string worker)
      : worker_(std::move(worker)) {
    std::string error;
    place_ = SocketPlace::Listen(folder, "agent", &error);
    thread_ = std::thread([this] { Run(); });
  }
  ~WorkerAgent() {
    is_ending_ = true;
    ::shutdown(place_.listener().get(), SHUT_RDWR);
    thread_.join();
  }

  const std::string& path() const { return place_.path(); }
  int jobs() const { return jobs_; }

  // Whether workers are told the folders as they were checked.
  bool says_checked = true;
  // Changes what a worker is told.
  std::function<void(Json* line)> on_line;
  // What happens after the check of a job, before its worker is started.
  std::function<void(const Json& job)> on_checked;
  // What the plug-in gets instead of an answer to `run` or `wait`.
  std::function<std::string(const Json& job)> on_run;
  LineFilter on_wait;
  // The agent goes away when the worker has begun.
  std::atomic<bool> leaves{false};
  // Has another worker go on with a job whose worker was lost.
  std::atomic<bool> resumes{false};
  // Is told each worker when it has its job and, if jobs are resumed, when it
  // says how far it is.
  std::function<void(const Json& job, ChildProcess* worker)> on_running;

  uint64_t resumed_bytes() const { return resumed_bytes_; }

 private:
  void Run() {
    while (!is_ending_) {
      pollfd wanted = {place_.listener().get(), POLLIN, 0};
      ::poll(&wanted, 1, -1);
      FileDescriptor client(
          ::accept(place_.listener().get(), nullptr, nullptr));
      if (client.IsOpen()) Serve(client);
    }
  }

  void Serve(const FileDescriptor& client) {
    Json job;
    std::unique_ptr<ChildProcess> worker;
    while (const auto line = Read(client)) {
      const Json request = *ReadJson(*line);
      if (request["method"] == "run") {
        job = request["params"]["job"];
        ++jobs_;
        if (on_run) {
          Send(client, on_run(job));
          continue;
        }
        worker = Start(job);
        Send(client, R"({"result":{"placement":"remote","node":"here"}})");
        continue;
      }
      if (leaves) return;
      // A job that was only pretended to be taken never ends.
      if (!worker) continue;
      std::string answer = NextAnswer(job, worker.get());
      if (answer.empty() && resumes) {
        worker = Start(job);
        answer = kRunning;
      }
      if (answer.empty()) answer = kLost;
      if (on_wait) answer = on_wait(job, std::move(answer));
      Send(client, answer);
    }
    received_.clear();
  }

  std::unique_ptr<ChildProcess> Start(const Json& job) {
    Json line = {{"protocol_version", {{"major", 1}, {"minor", 0}}},
                 {"job", job},
                 {"libraries", Json::array()},
                 {"memory_limit_bytes", 0},
                 {"temporary_limit_bytes", 0},
                 {"resumable", resumes.load()}};
    for (const char* name : {"database_path", "output_path"}) {
      if (!says_checked) break;
      line[std::string("checked_") + name] =
          std::filesystem::canonical(job[name].get<std::string>()).string();
    }
    if (on_line) on_line(&line);
    if (on_checked) on_checked(job);
    auto worker =
        std::make_unique<ChildProcess>(std::vector<std::string>{worker_});
    worker->Send(WriteJson(line) + "\n");
    if (on_running) on_running(job, worker.get());
    return worker;
  }

  // Empty for a worker that has ended without a word.
  std::string NextAnswer(const Json& job, ChildProcess* worker) {
    while (const auto line = worker->ReadLine()) {
      const Json said = *ReadJson(*line);
      // Others are quick enough to be waited for.
      if (resumes && said.contains("progress")) {
        if (on_running) on_running(job, worker);
        return kRunning;
      }
      if (said.contains("result")) {
        resumed_bytes_ = said["result"]["resumed_bytes"].get<uint64_t>();
        return WriteJson(
            {{"result",
              {{"state", "done"}, {"result", said["result"]["result"]}}}});
      }
      if (said.contains("failure")) {
        return WriteJson(
            {{"result",
              {{"state", "local"}, {"reason", said["failure"]["reason"]}}}});
      }
    }
    return "";
  }

  std::optional<std::string> Read(const FileDescriptor& client) {
    size_t end;
    while ((end = received_.find('\n')) == std::string::npos) {
      char part[4096];
      const ssize_t count = ::recv(client.get(), part, sizeof part, 0);
      if (count <= 0) {
        received_.clear();
        return std::nullopt;
      }
      received_.append(part, static_cast<size_t>(count));
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }
  static void Send(const FileDescriptor& client, std::string line) {
    line += '\n';
    ::send(client.get(), line.data(), line.size(), MSG_NOSIGNAL);
  }

  static constexpr char kRunning[] =
      R"({"result":{"state":"running","bytes_read":0,"bytes_written":0}})";
  static constexpr char kLost[] =
      R"({"result":{"state":"local","reason":"worker-lost"}})";

  const std::string worker_;
  SocketPlace place_;
  std::string received_;
  std::atomic<int> jobs_{0};
  std::atomic<uint64_t> resumed_bytes_{0};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace sluice
