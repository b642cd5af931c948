// A pool that a test plays, with its files in a folder: stores and workers find
// in it what the others have made.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "sluice/pool/played_agent.h"

namespace sluice {

// Knows of leases that whoever has one below another keeps the holder of that
// one from changes there.
class PlayedPool {
 public:
  static constexpr char kSession[] = "00000000000000000000000000000001";

  PlayedPool(const std::string& socket, const std::string& folder)
      : folder_(folder),
        agent_(socket, [this](const std::string& method, const Json& params) {
          Note(method, params);
          return Answer(method, params);
        }) {}

  // What was asked with a path since the last time, each as "METHOD PATH".
  std::vector<std::string> TakeAsked() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(asked_, {});
  }
  // Where a path of the pool is.
  std::string Local(const std::string& path) const { return folder_ + path; }

  // Leases that are given away do not end.
  std::atomic<bool> keeps_leases{false};

 private:
  void Note(const std::string& method, const Json& params) {
    const std::string path = params.value("path", params.value("source", ""));
    std::lock_guard<std::mutex> lock(mutex_);
    if (!path.empty()) asked_.push_back(method + " " + path);
  }

  std::string Answer(const std::string& method, const Json& params) {
    if (method == "attach") return Attach(params);
    if (method == "view") return Result(R"({"session":"v"})");
    if (method == "join") return Result("{}");
    if (method == "release") return Release(params["path"]);
    if (params.contains("file")) return OfFile(method, params);
    if (params.contains("source")) return Move(method, params);
    return OfPath(method, params["path"]);
  }

  std::string Attach(const Json& params) {
    const bool is_nested = params.contains("outer_epoch");
    const std::string path = params["path"];
    if (!std::filesystem::exists(Local(path))) {
      return Refusal("not-found", "not-found");
    }
    if (is_nested && !leased_.insert(path).second) {
      return Refusal("refused", "lease-held");
    }
    Json session = {{"protocol_version", {{"major", 1}, {"minor", 1}}},
                    {"session", kSession}};
    if (!is_nested) session["lock"] = "0f";
    return Result(session.dump().c_str());
  }
  std::string Release(const std::string& path) {
    if (keeps_leases) return Refusal("unavailable", "unavailable");
    leased_.erase(path);
    return Result("{}");
  }

  std::string OfFile(const std::string& method, const Json& params) {
    const auto found = files_.find(params["file"].get<uint64_t>());
    if (found == files_.end()) return Refusal("invalid", "not-open");
    std::fstream& stream = found->second;
    if (method == "read") return Read(&stream, params);
    if (method == "append") stream << agent_.payload() << std::flush;
    if (method == "seal" || method == "close") files_.erase(found);
    return Result("{}");
  }
  static std::string Read(std::fstream* stream, const Json& params) {
    std::string data(params["length_bytes"].get<size_t>(), '\0');
    stream->clear();
    stream->seekg(params["offset_bytes"].get<uint64_t>());
    stream->read(data.data(), static_cast<std::streamsize>(data.size()));
    data.resize(stream->gcount());
    return Result(Json({{"bytes", data.size()}}).dump().c_str()) + data;
  }

  std::string Move(const std::string& method, const Json& params) {
    const std::string source = params["source"];
    if (leased_.count(std::filesystem::path(source).parent_path()) > 0) {
      return Refusal("refused", "fenced");
    }
    const std::string from = Local(source);
    const std::string to = Local(params["target"]);
    std::error_code error;
    if (method == "rename") {
      std::filesystem::rename(from, to, error);
    } else {
      std::filesystem::create_hard_link(from, to, error);
    }
    return DoneOr(error);
  }

  std::string OfPath(const std::string& method, const std::string& path) {
    const std::string local = Local(path);
    std::error_code error;
    if (method == "make_directory") {
      std::filesystem::create_directory(local, error);
      return DoneOr(error);
    }
    if (method == "create") return Open(local, std::ios::out | std::ios::app);
    if (!std::filesystem::exists(local)) {
      return Refusal("not-found", "not-found");
    }
    if (method == "stat") return Stat(local);
    if (method == "list") return List(local);
    if (method == "open") return Open(local, std::ios::in);
    std::filesystem::remove(local, error);
    return DoneOr(error);
  }

  std::string Open(const std::string& local, std::ios::openmode mode) {
    if ((mode & std::ios::out) != 0) std::filesystem::remove(local);
    files_[++last_].open(local, mode | std::ios::binary);
    if (!files_[last_]) return Refusal("not-found", "not-found");
    Json opened = Found(local);
    opened["file"] = last_;
    return Result(opened.dump().c_str());
  }
  static std::string Stat(const std::string& local) {
    return Result(Found(local).dump().c_str());
  }
  static std::string List(const std::string& local) {
    Json names = Json::array();
    for (const auto& each : std::filesystem::directory_iterator(local)) {
      Json found = Found(each.path());
      found["name"] = each.path().filename().string();
      names.push_back(found);
    }
    return Result(Json({{"names", names}, {"more", false}}).dump().c_str());
  }
  static Json Found(const std::string& local) {
    struct stat status = {};
    ::stat(local.c_str(), &status);
    if (S_ISDIR(status.st_mode)) return {{"kind", "directory"}};
    return {{"kind", "file"},
            {"id", std::to_string(status.st_ino)},
            {"length_bytes", status.st_size},
            {"links", status.st_nlink}};
  }
  static std::string DoneOr(const std::error_code& error) {
    return error ? Refusal("refused", "refused") : Result("{}");
  }

  const std::string folder_;
  std::set<std::string> leased_;
  std::map<uint64_t, std::fstream> files_;
  uint64_t last_ = 0;

  std::mutex mutex_;
  std::vector<std::string> asked_;
  // Last: it asks the rest.
  PlayedAgent agent_;
};

}  // namespace sluice
