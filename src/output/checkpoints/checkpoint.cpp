#include "output/checkpoints/checkpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "output/directory/owners_file.hpp"
#include "output/directory/private_folders.hpp"
#include "output/directory/run_directory.hpp"

namespace starling {

namespace {

std::filesystem::directory_iterator files_in(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  check<FailureError>(!error, "cannot read '{}' ({})", folder, error.message());
  return files;
}

}  // namespace

std::string GrowingDigest::of_first(std::int64_t bytes) {
  const Descriptor file(path_, O_RDONLY);
  check<FailureError>(file.get() >= 0, "cannot read '{}' ({})", path_, std::strerror(errno));
  std::string piece(std::size_t{1} << 20, '\0');
  while (bytes_ < bytes) {
    const auto most = static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(piece), bytes - bytes_));
    const ssize_t count = ::pread(file.get(), piece.data(), most, static_cast<off_t>(bytes_));
    if (count < 0 && errno == EINTR) continue;
    check<FailureError>(count >= 0, "cannot read '{}' ({})", path_, std::strerror(errno));
    check<DataError>(count > 0, "'{}' ends at byte {}, of {} when the checkpoint was written", path_, bytes_, bytes);
    sum_.add(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
    bytes_ += count;
  }
  return sum_.digest();
}

std::string CheckpointFolder::path(Round round) const {
  return fmt::format("{}/{}{}", folder_, checkpoint_prefix, round);
}

void CheckpointFolder::write(Round round, const Secret<std::string>& state, const std::vector<Companion>& files) const {
  OwnersFile::replace(path(round), write_checkpoint({label_, round, state, files}));
}

Companion CheckpointFolder::describe(GrowingDigest& file) const {
  std::error_code error;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file.path(), error));
  check<FailureError>(!error, "cannot read '{}' ({})", file.path(), error.message());
  return {std::filesystem::path(file.path()).lexically_relative(folder_).string(), bytes, file.of_first(bytes)};
}

CheckpointFile CheckpointFolder::open(Round round) const {
  const std::optional<std::string> file = read_whole_file(path(round));
  check<FailureError>(file.has_value(), "cannot read '{}' ({})", path(round), std::strerror(errno));
  try {
    CheckpointFile checkpoint = read_checkpoint(*file);
    const CheckpointLabel& found = checkpoint.label;
    check<DataError>(found.build == label_.build, "it was written by starling {}, and this is {}", found.build,
                     label_.build);
    check<DataError>(found == label_ && checkpoint.round == round,
                     "it is of run {}, rank {} of {} with clients {} to {}, after round {}: it was moved here.",
                     found.run, found.rank, found.ranks, found.first, found.first + found.clients - 1,
                     checkpoint.round);
    return checkpoint;
  } catch (const DataError& error) {
    throw DataError(fmt::format("'{}': {}", path(round), error.what()));
  }
}

/// Throws DataError if any of its files is not what it was, up to where it was then.
void CheckpointFolder::require_files(const CheckpointFile& checkpoint,
                                     std::map<std::string, GrowingDigest>& digests) const {
  for (const auto& [name, bytes, digest] : checkpoint.files) {
    const std::string file = (std::filesystem::path(folder_) / name).lexically_normal().string();
    GrowingDigest& known = digests.try_emplace(name, file).first->second;
    const std::int64_t before = known.bytes();
    check<DataError>(before <= bytes && known.of_first(bytes) == digest,
                     "'{}' was changed: its bytes {} to {} are not those when the checkpoint was written", file,
                     std::min(before, bytes), bytes);
  }
}

CheckpointFolder::Found CheckpointFolder::look() const {
  Found found;
  std::map<std::string, GrowingDigest> digests;
  for (const Round round : checkpoint_rounds(files_in(folder_))) {
    try {
      const CheckpointFile checkpoint = open(round);
      try {
        require_files(checkpoint, digests);
      } catch (const Error& error) {
        throw DataError(fmt::format("'{}': {}", path(round), error.what()));
      }
      found.whole.push_back(round);
    } catch (const Error& error) {
      found.complaints.emplace_back(error.what());
    }
  }
  return found;
}

void CheckpointFolder::remove(Round from, Round end) const {
  for (const auto& entry : files_in(folder_)) {  // what a crash left unnamed
    const std::string name = entry.path().filename().string();
    std::error_code error;
    if (name.starts_with(checkpoint_prefix) && name.ends_with(".part")) std::filesystem::remove(entry.path(), error);
    check<FailureError>(!error, "cannot remove '{}' ({})", entry.path().string(), error.message());
  }
  for (const Round round : checkpoint_rounds(files_in(folder_))) {
    if (round < from || round >= end) continue;
    std::error_code error;
    std::filesystem::remove(path(round), error);
    check<FailureError>(!error, "cannot remove '{}' ({})", path(round), error.message());
  }
}

}  // namespace starling
