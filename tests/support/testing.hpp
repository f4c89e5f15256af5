/// What several tests need.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/record_error.hpp"

/// The expression, which may have commas, throws an E whose message has this part.
#define EXPECT_ERROR(E, part, ...)                                                                 \
  EXPECT_THAT(::starling::testing_support::message_of<E>([&] { static_cast<void>(__VA_ARGS__); }), \
              ::testing::HasSubstr(part))

namespace starling::testing_support {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string pattern = (parent / "starling-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file, and makes the folders that it is to be in; returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }

 private:
  std::filesystem::path path_;
};

/// A folder whose files are in memory, if the system has one: for tests that write and synchronise thousands of times.
inline std::filesystem::path folder_in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

/// A gtest parameter name made of a table row's name.
inline std::string test_name(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

/// What `action` throws, as text, with the values of records that it shows to their owner; empty if it throws nothing.
template <class E = std::exception>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const E& error) {
    const auto* const of_record = dynamic_cast<const RecordError*>(&error);
    return of_record == nullptr ? error.what() : of_record->shown();
  }
  return "";
}

/// The folder of the sources of this project.
std::string source_folder();

/// The folder of reference data beside the project; empty where there is none, and such tests are skipped.
inline std::string shared_folder() {
  const auto path = std::filesystem::path(source_folder()) / ".." / "shared";
  if (std::filesystem::exists(path / "data")) return path.string();
  const char* elsewhere = std::getenv("STARLING_SHARED");
  return elsewhere == nullptr ? "" : elsewhere;
}

}  // namespace starling::testing_support
