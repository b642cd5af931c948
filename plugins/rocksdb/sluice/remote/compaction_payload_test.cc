// Which results of workers are not installed.
#include "sluice/remote/compaction_payload.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "db/compaction/compaction_job.h"
#include "sluice/remote/local_job_files.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

using ROCKSDB_NAMESPACE::CompactionServiceOutputFile;
using ROCKSDB_NAMESPACE::CompactionServiceResult;
using ROCKSDB_NAMESPACE::Status;

class CompactionPayloadTest : public testing::Test {
 protected:
  CompactionPayloadTest() {
    char folder[] = "/tmp/sluice-payload-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    result_.status = Status::OK();
    result_.output_path = folder_;
  }
  ~CompactionPayloadTest() override { fs::remove_all(folder_); }

  void AddFile(const std::string& name, const std::string& key) {
    CompactionServiceOutputFile file;
    file.file_name = name;
    file.file_size = 4;
    file.smallest_internal_key = file.largest_internal_key = key;
    result_.output_files.push_back(file);
  }
  void Write(const std::string& name) {
    std::ofstream(folder_ + "/" + name) << "data";
  }
  std::string Reason() {
    std::string payload;
    EXPECT_TRUE(result_.Write(&payload).ok());
    return WhyNotInstallable(payload, folder_, LocalJobFiles());
  }

  const std::string key_ = "a" + std::string(8, '\1');
  std::string folder_;
  CompactionServiceResult result_;
};

TEST_F(CompactionPayloadTest, AWholeOneIsInstalled) {
  Write("000001.sst");
  AddFile("000001.sst", key_);
  EXPECT_EQ(Reason(), "");
}

TEST_F(CompactionPayloadTest, TheFolderIsAllThatIsExchanged) {
  Write("000001.sst");
  AddFile("000001.sst", key_);
  result_.output_path = "/proc/self/fd/7";
  EXPECT_EQ(Reason(), "the result is in another folder");
  std::string payload;
  ASSERT_TRUE(result_.Write(&payload).ok());
  ASSERT_TRUE(ExchangeOutputPath("/proc/self/fd/7", folder_, &payload));
  EXPECT_EQ(WhyNotInstallable(payload, folder_, LocalJobFiles()), "");
  result_.output_path = folder_;
  std::string expected;
  ASSERT_TRUE(result_.Write(&expected).ok());
  EXPECT_EQ(payload, expected);
  EXPECT_FALSE(ExchangeOutputPath("/proc/self/fd/7", folder_, &payload));
  EXPECT_EQ(payload, expected);
}

TEST_F(CompactionPayloadTest, AFolderThatIsNamedTwiceIsNotExchanged) {
  result_.output_path = "/a";
  std::string payload;
  ASSERT_TRUE(result_.Write(&payload).ok());
  payload += "output_path=2F61;";
  EXPECT_FALSE(ExchangeOutputPath("/a", folder_, &payload));
}

TEST_F(CompactionPayloadTest, OneThatFailedSaysWhy) {
  result_.status = Status::Corruption("a bad block");
  EXPECT_EQ(Reason(), "it failed: Corruption: a bad block");
}

TEST_F(CompactionPayloadTest, AnotherFormatIsNotRead) {
  std::string payload;
  ASSERT_TRUE(result_.Write(&payload).ok());
  payload[0] = '\2';
  EXPECT_EQ(WhyNotInstallable(payload, folder_, LocalJobFiles()),
            "the result cannot be read: Not implemented: its format is not "
            "known");
  EXPECT_FALSE(ExchangeOutputPath(folder_, "/elsewhere", &payload));
}

TEST_F(CompactionPayloadTest, AFileThatIsNamedTwiceIsNot) {
  Write("000001.sst");
  AddFile("000001.sst", key_);
  AddFile("000001.sst", key_);
  EXPECT_NE(Reason().find("twice"), std::string::npos);
}

TEST_F(CompactionPayloadTest, AFileWithoutARangeOfKeysIsNot) {
  Write("000001.sst");
  AddFile("000001.sst", "a");
  EXPECT_NE(Reason().find("range of keys"), std::string::npos);
}

TEST_F(CompactionPayloadTest, ALinkOrAPlaceElsewhereIsNot) {
  Write("elsewhere");
  fs::create_symlink(folder_ + "/elsewhere", folder_ + "/000001.sst");
  AddFile("000001.sst", key_);
  EXPECT_NE(Reason().find("not to be read"), std::string::npos);
  result_.output_files.clear();
  AddFile("../elsewhere", key_);
  EXPECT_NE(Reason().find("outside"), std::string::npos);
}

}  // namespace
}  // namespace sluice
