#include "output/directory/file_gathering.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "output/directory/run_directory.hpp"

namespace starling {

namespace fs = std::filesystem;

namespace {

/// The files below a folder as a sequence of pieces. A piece is the file's name in a line, then bytes. The last piece
/// of a file is the first one that has fewer than `most` bytes.
class FilePieces {
 public:
  FilePieces(std::string folder, std::size_t most) : folder_(std::move(folder)), most_(most) {
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(folder_, none)) {
      if (entry.is_regular_file()) names_.push_back(entry.path().lexically_relative(folder_).string());
    }
    std::ranges::sort(names_);
  }

  /// The next piece; empty behind the last one.
  [[nodiscard]] std::string next() {
    if (at_ == names_.size()) return "";
    const std::string& name = names_[at_];
    const std::string path = folder_ + "/" + name;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    check<FailureError>(!error && size >= sent_, "cannot read '{}' ({})", path, error.message());
    std::string bytes(std::min<std::uintmax_t>(most_, size - sent_), '\0');
    const Descriptor file(path, O_RDONLY);
    require_read(file.get() < 0 ? errno : read_all(file.get(), bytes, static_cast<off_t>(sent_)), path);
    std::string piece = name + "\n" + bytes;
    sent_ += bytes.size();
    if (bytes.size() < most_) {
      ++at_;
      sent_ = 0;
    }
    return piece;
  }

 private:
  std::string folder_;
  std::size_t most_;
  std::vector<std::string> names_;
  std::size_t at_ = 0;
  std::uintmax_t sent_ = 0;  ///< bytes of the file names_[at_]
};

/// The file of one rank that is being received.
class ArrivingFile {
 public:
  /// Adds the next piece.
  void take(std::string_view piece, const FileDestination& to, std::size_t most) {
    const std::size_t end = piece.find('\n');
    const std::string path = to.folder + "/" + std::string(piece.substr(0, end));
    const std::string part = path + ".part";
    const std::string_view bytes = piece.substr(end + 1);
    make_folder_of(path);
    write(part, bytes, to.mode);
    begun_ = bytes.size() == most;
    if (begun_) return;
    static_cast<void>(settle_file(part));
    require_written(std::rename(part.c_str(), path.c_str()) == 0 ? sync_folder_of(path) : errno, path);
  }

 private:
  void write(const std::string& part, std::string_view bytes, mode_t mode) const {
    const Descriptor file(part, O_WRONLY | O_CREAT | (begun_ ? O_APPEND : O_TRUNC), mode);
    require_written(file.get() < 0 ? errno : write_all(file.get(), bytes), part, "make room on the disk");
  }
  bool begun_ = false;  ///< whether the file has some pieces, and lacks the last one
};

}  // namespace

void gather_files(Agreement& agreement, const std::string& from, const FileDestination& to, std::size_t at_once) {
  if (!agreement.any(declare_public(!from.empty()))) return;
  const std::size_t most = std::max<std::size_t>(1, at_once / static_cast<std::size_t>(agreement.ranks()));
  std::optional<FilePieces> pieces;
  agreement.together([&] { pieces.emplace(from, most); });
  std::vector<ArrivingFile> arriving(static_cast<std::size_t>(agreement.ranks()));
  while (true) {
    std::string own;
    agreement.together([&] { own = pieces->next(); });
    if (!agreement.any(declare_public(!own.empty()))) break;
    const Public<std::string> piece = declare_public(std::move(own));
    const std::vector<std::string> arrived = to.rank == 0 ? agreement.gather(piece) : agreement.all_gather(piece);
    agreement.together([&] {
      for (std::size_t r = 0; r < arrived.size() && agreement.rank() == to.rank; ++r) {
        if (!arrived[r].empty()) arriving[r].take(arrived[r], to, most);
      }
    });
  }
  std::error_code ignored;
  if (!from.empty()) fs::remove_all(from, ignored);
}

}  // namespace starling
