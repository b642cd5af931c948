// Where a worker puts its files, until the store takes them over.
#pragma once

#include <functional>
#include <string>

namespace sluice {

// Folder of a job: `.sluice-compaction-ID` in the parent.
std::string OutputFolderPath(const std::string& parent, const std::string& id);

bool IsOutputFolder(const std::string& path);

// Makes it, for the group sluice as well if there is one; false if it cannot
// be made or is there already.
bool MakeOutputFolder(const std::string& path);

// Removes such a folder and what is in it; nothing else, and also while a
// worker that does not know yet makes files there. First it gets another name,
// for workers that go by its path.
void RemoveOutputFolder(const std::string& path);

// Removes the folders that jobs of an earlier process have left.
void RemoveLeftOutputFolders(
    const std::string& parent,
    const std::function<bool(const std::string& path)>& is_in_use);

// For the worker: lets the store have the files in a folder of its job, also
// where they do not get the group of the folder by themselves. The store may
// make hard links to them, for which the kernel wants the right to write.
void ShareWithStore(const std::string& path);

}  // namespace sluice
