/// Folders for files that are being made.
#pragma once

#include <string>

namespace starling {

/// An empty folder of its own inside another folder, gone with all its content at the end of the scope.
class ScratchFolder {
 public:
  /// Makes a folder among the system's temporary files. Throws FailureError.
  ScratchFolder();
  /// Makes `parent`/`stem`-XXXXXX. Where that fails, `made` is false and errno says why.
  ScratchFolder(const std::string& parent, const std::string& stem);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_;
};

}  // namespace starling
