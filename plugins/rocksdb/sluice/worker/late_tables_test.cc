#include "sluice/worker/late_tables.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace sluice {
namespace {

namespace fs = std::filesystem;

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

// Remembers which files were opened.
class WatchedFiles : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  WatchedFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "WatchedFiles"; }
  IOStatus NewRandomAccessFile(const std::string& path,
                               const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* debug) override {
    opened.push_back(fs::path(path).filename());
    return target()->NewRandomAccessFile(path, options, file, debug);
  }

  std::vector<std::string> opened;
};

class LateTablesTest : public testing::Test {
 protected:
  using Names = std::vector<std::string>;

  LateTablesTest() {
    char folder[] = "/tmp/sluice-late-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    files_ =
        std::make_shared<LateTables>(watched_, folder_, std::set<uint64_t>{7});
    for (const char* name : {"000007.sst", "000008.sst", "MANIFEST-000009"}) {
      std::ofstream(folder_ + "/" + name) << "data";
    }
  }
  ~LateTablesTest() override { fs::remove_all(folder_); }

  std::unique_ptr<FSRandomAccessFile> Open(const std::string& name,
                                           const FileOptions& options = {}) {
    std::unique_ptr<FSRandomAccessFile> file;
    EXPECT_TRUE(
        files_
            ->NewRandomAccessFile(folder_ + "/" + name, options, &file, nullptr)
            .ok());
    return file;
  }
  static std::string TextOf(const FSRandomAccessFile& file) {
    std::array<char, 4> scratch;
    Slice read;
    const auto status = file.Read(0, scratch.size(), IOOptions(), &read,
                                  scratch.data(), nullptr);
    return status.ok() ? read.ToString() : status.ToString();
  }

  std::string folder_;
  const std::shared_ptr<WatchedFiles> watched_ =
      std::make_shared<WatchedFiles>();
  std::shared_ptr<FileSystem> files_;
};

TEST_F(LateTablesTest, ATableThatIsNoInputIsOpenedWhenItIsRead) {
  const auto file = Open("000008.sst");
  EXPECT_EQ(watched_->opened, Names{});
  EXPECT_EQ(TextOf(*file), "data");
  EXPECT_EQ(TextOf(*file), "data");
  EXPECT_EQ(watched_->opened, Names{"000008.sst"});
}

TEST_F(LateTablesTest, InputsAndOtherFilesAreOpenedAtOnce) {
  Open("000007.sst");
  Open("MANIFEST-000009");
  EXPECT_EQ(watched_->opened, (Names{"000007.sst", "MANIFEST-000009"}));
}

TEST_F(LateTablesTest, SoAreThoseOfOtherFolders) {
  const std::string output = folder_ + "/output";
  fs::create_directory(output);
  std::ofstream(output + "/000008.sst") << "data";
  LateTables of_output(watched_, folder_ + "/database", {});
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_TRUE(of_output
                  .NewRandomAccessFile(output + "/000008.sst", FileOptions(),
                                       &file, nullptr)
                  .ok());
  EXPECT_EQ(watched_->opened, Names{"000008.sst"});
}

TEST_F(LateTablesTest, SoAreThoseThatAreMapped) {
  FileOptions mapped;
  mapped.use_mmap_reads = true;
  Open("000008.sst", mapped);
  EXPECT_EQ(watched_->opened, Names{"000008.sst"});
}

TEST_F(LateTablesTest, WhatIsNotThereIsNotRead) {
  const auto file = Open("000010.sst");
  EXPECT_NE(TextOf(*file).find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace sluice
