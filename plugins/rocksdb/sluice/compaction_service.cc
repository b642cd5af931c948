#include "sluice/compaction_service.h"

#include "rocksdb/db.h"
#include "sluice/guarded.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::BackgroundHooks;
using ROCKSDB_NAMESPACE::CompactionServiceJobInfo;
using ROCKSDB_NAMESPACE::CompactionServiceJobStatus;
using ROCKSDB_NAMESPACE::CompactionServiceScheduleResponse;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;

}  // namespace

CompactionService::CompactionService()
    : process_(Process::Instance()),
      remote_(&options_, process_->figures(), process_->pace()) {
  RegisterOptions(&options_, &PluginOptionTypes());
}

const void* CompactionService::GetOptionsPtr(const std::string& name) const {
  if (name == BackgroundHooks::kName()) {
    return static_cast<const BackgroundHooks*>(this);
  }
  return ROCKSDB_NAMESPACE::CompactionService::GetOptionsPtr(name);
}

CompactionServiceScheduleResponse CompactionService::Schedule(
    const CompactionServiceJobInfo& info, const std::string& input) {
  const CompactionServiceScheduleResponse local(
      CompactionServiceJobStatus::kUseLocal);
  return Guarded(local, [&] {
    const auto database = process_->DatabaseAt(info.db_name);
    std::string id;
    if (process_->IsHeld(database.get(), info.cf_name, info.base_input_level)) {
      remote_.CountLocal("held");
      return local;
    }
    return remote_.Place(database.get(), info, input, &id)
               ? CompactionServiceScheduleResponse(
                     id, CompactionServiceJobStatus::kSuccess)
               : local;
  });
}

CompactionServiceJobStatus CompactionService::Wait(const std::string& id,
                                                   std::string* result) {
  return Guarded(CompactionServiceJobStatus::kUseLocal,
                 [&] { return remote_.Wait(id, result); });
}

void CompactionService::OnInstallation(const std::string& id,
                                       CompactionServiceJobStatus status) {
  Guarded([&] { remote_.Installed(id, status); });
}

void CompactionService::PrepareOptions(const std::string& path,
                                       DBOptions* options) {
  Guarded([&] { process_->Prepare(path, options_, options); });
}

void CompactionService::Opened(DB* db) {
  Guarded([&] { process_->Opened(db); });
  // What has failed there, such as a thread, has nothing to do with workers.
  Guarded([&] {
    if (const auto database = process_->DatabaseOf(db)) {
      remote_.Open(*database);
    }
  });
}

// Jobs on other nodes end first: a thread that waits for one has to go on.
void CompactionService::ShutdownBegins(DB* db) {
  Guarded([&] {
    const auto database = process_->DatabaseOf(db);
    if (!database) return;
    // One that was never open may be a second open of a folder in use.
    if (database->WasOpened()) remote_.Close(db->GetName());
    process_->ShutdownBegins(database.get());
  });
}

bool CompactionService::MayCompact(DB* db, uint32_t family) {
  return Guarded(true, [&] { return process_->MayCompact(db, family); });
}

void CompactionService::StaysLocal(const std::string&, const char* reason) {
  Guarded([&] { remote_.CountLocal(reason); });
}

}  // namespace sluice
