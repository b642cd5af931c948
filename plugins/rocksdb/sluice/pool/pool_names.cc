// The part of the file system that is about names.
#include <utility>

#include "sluice/guarded.h"
#include "sluice/pool/pool_file_system.h"
#include "sluice/pool/pool_path.h"
#include "sluice/pool/pool_status.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileAttributes;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;

// In the form in which RocksDB looks for names that are not there.
IOStatus AsNotFound(const IOStatus& status) {
  return status.IsPathNotFound() ? IOStatus::NotFound(status.ToString())
                                 : status;
}

bool IsFile(const Json& found) { return TextIn(found, "kind") == "file"; }

}  // namespace

IOStatus PoolFileSystem::Stat(const std::string& path, Json* found) {
  return session()->Look("stat", {{"path", PoolPath(path)}}, found);
}

IOStatus PoolFileSystem::Change(const char* method, const std::string& path) {
  return session()->Change(method, {{"path", PoolPath(path)}});
}

IOStatus PoolFileSystem::Move(const char* method, const std::string& source,
                              const std::string& target) {
  return session()->Change(
      method, {{"source", PoolPath(source)}, {"target", PoolPath(target)}});
}

IOStatus PoolFileSystem::List(const std::string& path,
                              std::vector<PoolName>* names) {
  Json params = {{"path", PoolPath(path)}};
  for (;;) {
    Json result;
    IOStatus status = session()->Look("list", params, &result);
    if (!status.ok()) return AsNotFound(status);
    auto part = NamesIn(result);
    if (!part) return NotUnderstood("list");
    names->insert(names->end(), part->names.begin(), part->names.end());
    if (!part->has_more) return status;
    params["after"] = names->back().name;
  }
}

IOStatus PoolFileSystem::FileExists(const std::string& path,
                                    const IOOptions& options,
                                    IODebugContext* debug) {
  if (IsLocal(path)) return target()->FileExists(path, options, debug);
  return Guarded(OutOfMemory(), [&] {
    Json found;
    return AsNotFound(Stat(path, &found));
  });
}

IOStatus PoolFileSystem::GetChildren(const std::string& path,
                                     const IOOptions& options,
                                     std::vector<std::string>* names,
                                     IODebugContext* debug) {
  if (IsLocal(path)) return target()->GetChildren(path, options, names, debug);
  return Guarded(OutOfMemory(), [&] {
    std::vector<PoolName> found;
    IOStatus status = List(path, &found);
    names->clear();
    for (PoolName& each : found) names->push_back(std::move(each.name));
    return status;
  });
}

IOStatus PoolFileSystem::GetChildrenFileAttributes(
    const std::string& path, const IOOptions& options,
    std::vector<FileAttributes>* attributes, IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->GetChildrenFileAttributes(path, options, attributes,
                                               debug);
  }
  return Guarded(OutOfMemory(), [&] {
    std::vector<PoolName> found;
    IOStatus status = List(path, &found);
    attributes->clear();
    for (PoolName& each : found) {
      attributes->push_back({std::move(each.name), each.length_bytes});
    }
    return status;
  });
}

IOStatus PoolFileSystem::GetFileSize(const std::string& path,
                                     const IOOptions& options, uint64_t* bytes,
                                     IODebugContext* debug) {
  if (IsLocal(path)) return target()->GetFileSize(path, options, bytes, debug);
  return Guarded(OutOfMemory(), [&] {
    Json found;
    IOStatus status = Stat(path, &found);
    if (!status.ok()) return status;
    *bytes = CountIn(found, "length_bytes").value_or(0);
    return IsFile(found) ? status : IOStatus::IOError(path + " is no file");
  });
}

IOStatus PoolFileSystem::GetFileModificationTime(const std::string& path,
                                                 const IOOptions& options,
                                                 uint64_t* time,
                                                 IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->GetFileModificationTime(path, options, time, debug);
  }
  return IOStatus::NotSupported("a pool keeps no times of files");
}

IOStatus PoolFileSystem::IsDirectory(const std::string& path,
                                     const IOOptions& options,
                                     bool* is_directory,
                                     IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->IsDirectory(path, options, is_directory, debug);
  }
  return Guarded(OutOfMemory(), [&] {
    Json found;
    IOStatus status = Stat(path, &found);
    *is_directory = status.ok() && !IsFile(found);
    return status;
  });
}

IOStatus PoolFileSystem::NumFileLinks(const std::string& path,
                                      const IOOptions& options, uint64_t* count,
                                      IODebugContext* debug) {
  if (IsLocal(path)) return target()->NumFileLinks(path, options, count, debug);
  return Guarded(OutOfMemory(), [&] {
    Json found;
    IOStatus status = Stat(path, &found);
    if (status.ok()) *count = CountIn(found, "links").value_or(1);
    return status;
  });
}

IOStatus PoolFileSystem::AreFilesSame(const std::string& first,
                                      const std::string& second,
                                      const IOOptions& options, bool* is_same,
                                      IODebugContext* debug) {
  if (IsLocal(first) && IsLocal(second)) {
    return target()->AreFilesSame(first, second, options, is_same, debug);
  }
  *is_same = false;
  if (IsLocal(first) || IsLocal(second)) return IOStatus::OK();
  return Guarded(OutOfMemory(), [&] {
    Json one;
    Json other;
    IOStatus status = Stat(first, &one);
    if (status.ok()) status = Stat(second, &other);
    *is_same =
        status.ok() && IsFile(one) && TextIn(one, "id") == TextIn(other, "id");
    return status;
  });
}

IOStatus PoolFileSystem::GetFreeSpace(const std::string& path,
                                      const IOOptions& options, uint64_t* bytes,
                                      IODebugContext* debug) {
  if (IsLocal(path)) return target()->GetFreeSpace(path, options, bytes, debug);
  return IOStatus::NotSupported("a pool's free space is on its servers");
}

IOStatus PoolFileSystem::DeleteFile(const std::string& path,
                                    const IOOptions& options,
                                    IODebugContext* debug) {
  if (IsLocal(path)) return target()->DeleteFile(path, options, debug);
  return Guarded(OutOfMemory(), [&] { return Change("remove", path); });
}

IOStatus PoolFileSystem::Truncate(const std::string& path, size_t bytes,
                                  const IOOptions& options,
                                  IODebugContext* debug) {
  if (IsLocal(path)) return target()->Truncate(path, bytes, options, debug);
  return IOStatus::NotSupported("truncate", "files of a pool only grow");
}

IOStatus PoolFileSystem::CreateDir(const std::string& path,
                                   const IOOptions& options,
                                   IODebugContext* debug) {
  if (IsLocal(path)) return target()->CreateDir(path, options, debug);
  return Guarded(OutOfMemory(), [&] {
    Json found;
    if (Stat(path, &found).ok()) {
      return IOStatus::IOError(path + " is there already");
    }
    return Change("make_directory", path);
  });
}

IOStatus PoolFileSystem::CreateDirIfMissing(const std::string& path,
                                            const IOOptions& options,
                                            IODebugContext* debug) {
  if (IsLocal(path)) return target()->CreateDirIfMissing(path, options, debug);
  return Guarded(OutOfMemory(), [&] {
    // What is there needs no lease.
    Json found;
    if (Stat(path, &found).ok() && !IsFile(found)) return IOStatus::OK();
    return Change("make_directory", path);
  });
}

IOStatus PoolFileSystem::DeleteDir(const std::string& path,
                                   const IOOptions& options,
                                   IODebugContext* debug) {
  if (IsLocal(path)) return target()->DeleteDir(path, options, debug);
  return Guarded(OutOfMemory(),
                 [&] { return Change("remove_directory", path); });
}

IOStatus PoolFileSystem::RenameFile(const std::string& source,
                                    const std::string& target_path,
                                    const IOOptions& options,
                                    IODebugContext* debug) {
  if (IsLocal(source) && IsLocal(target_path)) {
    return target()->RenameFile(source, target_path, options, debug);
  }
  if (IsLocal(source) || IsLocal(target_path)) {
    return IOStatus::NotSupported("rename between this node and a pool");
  }
  return Guarded(OutOfMemory(),
                 [&] { return Move("rename", source, target_path); });
}

IOStatus PoolFileSystem::LinkFile(const std::string& source,
                                  const std::string& target_path,
                                  const IOOptions& options,
                                  IODebugContext* debug) {
  if (IsLocal(source) && IsLocal(target_path)) {
    return target()->LinkFile(source, target_path, options, debug);
  }
  if (IsLocal(source) || IsLocal(target_path)) {
    return IOStatus::NotSupported("link between this node and a pool");
  }
  return Guarded(OutOfMemory(),
                 [&] { return Move("link", source, target_path); });
}

}  // namespace sluice
