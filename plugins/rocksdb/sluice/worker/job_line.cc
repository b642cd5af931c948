#include "sluice/worker/job_line.h"

#include <algorithm>
#include <string_view>

#include "rocksdb/version.h"
#include "sluice/protocol/json.h"
#include "sluice/text/base64.h"
#include "sluice/text/printable.h"

namespace sluice {
namespace {

constexpr uint64_t kMajor = 1;
constexpr size_t kMaxPathBytes = 1024;
constexpr std::string_view kOutputPrefix = ".sluice-compaction-";

// Members of an object; the first that is wrong is kept.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  bool Has(const char* name) const { return object_.contains(name); }

  std::string Text(const char* name) {
    const auto found = object_.find(name);
    if (found != object_.end() && found->is_string()) {
      return found->get<std::string>();
    }
    Refuse(name);
    return "";
  }
  uint64_t Whole(const char* name) {
    const auto found = object_.find(name);
    const auto number =
        found == object_.end() ? std::nullopt : WholeNumber(*found);
    if (!number) Refuse(name);
    return number.value_or(0);
  }
  std::string OptionalText(const char* name) {
    return Has(name) ? Text(name) : "";
  }
  bool OptionalBoolean(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) return false;
    if (found->is_boolean()) return found->get<bool>();
    Refuse(name);
    return false;
  }
  const Json& OptionalList(const char* name) {
    static const Json& kNone = *new Json(Json::array());
    return Has(name) ? Of(name, Json::value_t::array) : kNone;
  }
  const Json& Of(const char* name, Json::value_t type) {
    static const Json& kNone = *new Json();
    const auto found = object_.find(name);
    if (found != object_.end() && found->type() == type) return *found;
    Refuse(name);
    return kNone;
  }
  void Refuse(const std::string& name) {
    if (wrong_.empty()) wrong_ = name;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const Json& object_;
  std::string wrong_;
};

JobFailure Invalid(const std::string& message) { return {"failed", message}; }

// Absolute, and nothing in it that leads elsewhere.
bool IsCleanPath(const std::string& path) {
  if (path.empty() || path[0] != '/' || path.size() > kMaxPathBytes ||
      (path.size() > 1 && path.back() == '/') || !IsPrintable(path)) {
    return false;
  }
  const std::string bounded = path + '/';
  return bounded.find("//") == std::string::npos &&
         bounded.find("/./") == std::string::npos &&
         bounded.find("/../") == std::string::npos;
}

bool IsOutputPath(const std::string& path, const std::string& id) {
  const size_t slash = path.rfind('/');
  return IsCleanPath(path) &&
         path.substr(slash + 1) == std::string(kOutputPrefix) + id;
}

bool AreCheckedClean(const WorkerJob& job) {
  if (job.pool) {
    return job.checked_database_path.empty() &&
           IsOutputPath(job.checked_output_path, job.id) &&
           IsCleanPath(job.pool->socket);
  }
  const bool is_said =
      !job.checked_database_path.empty() || !job.checked_output_path.empty();
  return !is_said || (IsCleanPath(job.checked_database_path) &&
                      IsOutputPath(job.checked_output_path, job.id));
}

bool AreClean(const WorkerJob& job) {
  return IsCleanPath(job.database_path) &&
         IsOutputPath(job.output_path, job.id) && AreCheckedClean(job);
}

std::string VersionText(uint64_t major, uint64_t minor, uint64_t patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch);
}

void ReadObjects(const Json& list, Members* job, WorkerJob* read) {
  for (const Json& each : list) {
    Members object(each);
    auto kind = object.Text("kind");
    auto name = object.Text("name");
    if (!each.is_object() || !object.wrong().empty()) job->Refuse("objects");
    read->objects.emplace_back(std::move(kind), std::move(name));
  }
}

void ReadNextLevelTables(const Json& list, Members* job, WorkerJob* read) {
  for (const Json& each : list) {
    Members table(each);
    auto smallest = FromBase64(table.Text("smallest"));
    auto largest = FromBase64(table.Text("largest"));
    const uint64_t bytes = table.Whole("bytes");
    if (!each.is_object() || !table.wrong().empty() || !smallest || !largest) {
      job->Refuse("next_level_tables");
      return;
    }
    read->next_level_tables.push_back(
        {std::move(*smallest), std::move(*largest), bytes});
  }
}

void ReadLibraries(const Json& list, Members* line, WorkerJob* read) {
  for (const Json& each : list) {
    if (!each.is_string() || !IsCleanPath(each.get<std::string>())) {
      line->Refuse("libraries");
      return;
    }
    read->libraries.push_back(each.get<std::string>());
  }
}

void ReadPool(Members* job, Members* line, WorkerJob* read) {
  if (!job->Has("pool")) {
    // Whoever says one alone does not say where the paths are.
    if (line->Has("pool_socket")) job->Refuse("pool");
    return;
  }
  Members pool(job->Of("pool", Json::value_t::object));
  JobPool told;
  told.volume = pool.Text("volume");
  told.outer_epoch = pool.Whole("outer_epoch");
  told.socket = line->Text("pool_socket");
  const bool is_wrong =
      !pool.wrong().empty() || told.volume.empty() || told.outer_epoch == 0;
  if (is_wrong) job->Refuse("pool");
  read->pool = std::move(told);
}

// Versions come first: of another one the rest may have another form.
std::string WhyWrongVersion(const Json& line, const Json& job) {
  Members protocol(Members(line).Of("protocol_version", Json::value_t::object));
  const uint64_t major = protocol.Whole("major");
  if (protocol.wrong().empty() && major != kMajor) {
    return "the job is of version " + std::to_string(major) +
           " of the protocol, this worker speaks version 1";
  }
  Members rocksdb(Members(job).Of("rocksdb_version", Json::value_t::object));
  const uint64_t store_major = rocksdb.Whole("major");
  const uint64_t store_minor = rocksdb.Whole("minor");
  const uint64_t store_patch = rocksdb.Whole("patch");
  // Of what an older patch version does not know, such as a kind of filter,
  // RocksDB makes nothing, and does not say so.
  const bool is_able = store_major == ROCKSDB_MAJOR &&
                       store_minor == ROCKSDB_MINOR &&
                       store_patch <= ROCKSDB_PATCH;
  if (rocksdb.wrong().empty() && !is_able) {
    return "the job is of RocksDB " +
           VersionText(store_major, store_minor, store_patch) +
           ", this worker has " +
           VersionText(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH) +
           ": install that version or a later one of its series here";
  }
  const bool is_there = protocol.wrong().empty() && rocksdb.wrong().empty();
  return is_there ? "" : "the job does not say of which version it is";
}

}  // namespace

std::variant<WorkerJob, JobFailure> ReadJobLine(const std::string& line) {
  const auto document = ReadJson(line);
  if (!document || !document->is_object()) {
    return Invalid("the job is no JSON object");
  }
  Members top(*document);
  const Json& job = top.Of("job", Json::value_t::object);
  if (!top.wrong().empty()) return Invalid("the line has no job");
  const std::string wrong_version = WhyWrongVersion(*document, job);
  if (!wrong_version.empty()) return JobFailure{"version", wrong_version};

  WorkerJob read;
  Members members(job);
  read.id = members.Text("id");
  read.database_path = members.Text("database_path");
  read.output_path = members.Text("output_path");
  ReadPool(&members, &top, &read);
  read.is_automatic = members.OptionalBoolean("is_automatic");
  ReadObjects(members.Of("objects", Json::value_t::array), &members, &read);
  ReadNextLevelTables(members.OptionalList("next_level_tables"), &members,
                      &read);
  const auto input = FromBase64(members.Text("input"));
  if (!input || input->empty()) members.Refuse("input");
  read.input = input.value_or("");
  ReadLibraries(top.Of("libraries", Json::value_t::array), &top, &read);
  read.checked_database_path = top.OptionalText("checked_database_path");
  read.checked_output_path = top.OptionalText("checked_output_path");
  read.temporary_limit_bytes = top.Whole("temporary_limit_bytes");
  // Progress is not kept in a pool.
  read.is_resumable = top.OptionalBoolean("resumable") && !read.pool;
  for (const Members& each : {members, top}) {
    if (!each.wrong().empty()) {
      return Invalid("the member \"" + each.wrong() +
                     "\" of the job is missing or wrong");
    }
  }
  if (!AreClean(read)) {
    return JobFailure{"path", "the paths of the job are not clean"};
  }
  return read;
}

}  // namespace sluice
