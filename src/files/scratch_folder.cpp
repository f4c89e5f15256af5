#include "files/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/check.hpp"

namespace starling {

namespace fs = std::filesystem;

namespace {

std::string temporary_files() {
  std::error_code error;
  const fs::path path = fs::temp_directory_path(error);
  check<FailureError>(!error, "there is no folder for temporary files ({}). Set TMPDIR to one.", error.message());
  return path.string();
}

}  // namespace

ScratchFolder::ScratchFolder() : ScratchFolder(temporary_files(), "starling") {
  check<FailureError>(made_, "cannot make '{}' ({}). Set TMPDIR to a folder that can be written.", path_,
                      std::generic_category().message(errno));
}

ScratchFolder::ScratchFolder(const std::string& parent, const std::string& stem)
    : path_(parent + "/" + stem + "-XXXXXX"), made_(::mkdtemp(path_.data()) != nullptr) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (made_) fs::remove_all(path_, ignored);
}

}  // namespace starling
