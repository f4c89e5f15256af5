#include "starling/record/run_directory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace starling {

namespace fs = std::filesystem;

namespace {

void make_run_directory(const std::string& path, const std::string& configuration) {
  std::error_code error;
  if (fs::exists(path, error)) {
    check(fs::is_directory(path, error), "--output '{}' is not a directory (a run needs one of its own) name another",
          path);
    check(fs::is_empty(path, error),
          "--output '{}' is not empty (nothing that exists is overwritten) name another or empty it", path);
  }
  fs::create_directories(path + "/clients", error);
  check<FailureError>(!error, "cannot make '{}' ({})", path, error.message());
  fs::create_directories(path + "/private", error);
  check<FailureError>(!error, "cannot make '{}/private' ({})", path, error.message());
  std::ofstream file(path + "/config.ini");
  file << configuration;
  file.close();
  check<FailureError>(file.good(), "cannot write '{}/config.ini' ({})", path, std::strerror(errno));
}

}  // namespace

RunDirectory::RunDirectory(const std::string& path, const std::string& configuration, Agreement& agreement, int rank)
    : path_(path) {
  agreement.together([&] {
    if (rank == 0) make_run_directory(path, configuration);
  });
  agreement.together([&] {
    const std::string folder = private_folder(rank);
    check<FailureError>(mkdir(folder.c_str(), S_IRWXU) == 0,
                        "cannot make '{}' ({}) see whether all ranks share this file system", folder,
                        std::strerror(errno));
  });
}

std::string RunDirectory::clients_name(int rank) {
  return fmt::format("clients/{}.h5", rank);
}
std::string RunDirectory::private_folder(int rank) const {
  return fmt::format("{}/private/{}", path_, rank);
}

OwnersFile::OwnersFile(std::string path) : path_(std::move(path)) {
  append_text("");
}

void OwnersFile::append_text(const std::string& text) const {
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  check<FailureError>(file >= 0, "cannot open '{}' ({})", path_, std::strerror(errno));
  const ssize_t written = write(file, text.data(), text.size());
  const int closed = close(file);
  check<FailureError>(written == static_cast<ssize_t>(text.size()) && closed == 0, "cannot write '{}' ({})", path_,
                      std::strerror(errno));
}

}  // namespace starling
