#include "version.hpp"

#include <algorithm>
#include <cstring>
#include <link.h>
#include <span>
#include <string_view>

#include <Eigen/Core>
#include <fmt/format.h>
#include <hdf5.h>

#include "starling/core/digest.hpp"
#include "starling/net/world.hpp"

namespace starling {

namespace {

/// A note that is shorter was not made from what was linked.
constexpr std::size_t digest_bytes = 20;

/// The text of the note of this kind among those of the part, which follow each other at multiples of `alignment`.
std::string_view note_of(std::string_view notes, ElfW(Word) kind, std::size_t alignment) {
  const auto padded = [alignment](std::size_t size) { return (size + alignment - 1) / alignment * alignment; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t text = padded(sizeof header + header.n_namesz);
    if (text + header.n_descsz > notes.size()) break;
    if (header.n_type == kind && notes.substr(sizeof header, header.n_namesz) == std::string_view("GNU", 4)) {
      return notes.substr(text, header.n_descsz);
    }
    notes.remove_prefix(std::min(padded(text + header.n_descsz), notes.size()));
  }
  return {};
}

/// The file that starling was loaded from: the program, or the library of another program.
struct OwnFile {
  std::string path;  ///< empty for the program of the process
  std::string build_id;
};

bool has_own_code(const dl_phdr_info& file);

/// Looks at the file that has this code, and at no other.
int find_own_file(dl_phdr_info* file, std::size_t, void* result) {
  if (!has_own_code(*file)) return 0;
  OwnFile& found = *static_cast<OwnFile*>(result);
  found.path = file->dlpi_name;
  for (const ElfW(Phdr) & part : std::span(file->dlpi_phdr, file->dlpi_phnum)) {
    if (part.p_type != PT_NOTE) continue;
    const std::string_view notes(reinterpret_cast<const char*>(file->dlpi_addr + part.p_vaddr), part.p_memsz);
    const std::string_view id = note_of(notes, NT_GNU_BUILD_ID, part.p_align == 8 ? 8 : 4);
    if (id.size() >= digest_bytes) found.build_id = to_hex(id);
  }
  return 1;
}

bool has_own_code(const dl_phdr_info& file) {
  const auto place = reinterpret_cast<ElfW(Addr)>(&find_own_file);
  return std::ranges::any_of(std::span(file.dlpi_phdr, file.dlpi_phnum), [&](const ElfW(Phdr) & part) {
    const ElfW(Addr) begin = file.dlpi_addr + part.p_vaddr;
    return part.p_type == PT_LOAD && place >= begin && place - begin < part.p_memsz;
  });
}

OwnFile own_file() {
  OwnFile found;
  dl_iterate_phdr(find_own_file, &found);
  return found;
}

}  // namespace

bool is_own_program() {
  return own_file().path.empty();
}

std::string build_digest() {
  const OwnFile file = own_file();
  if (!file.build_id.empty()) return file.build_id;
  return sha256_of_file(file.path.empty() ? "/proc/self/exe" : file.path);
}

std::string version() {
  return fmt::format("{} ({})", STARLING_VERSION, STARLING_REVISION);
}

std::string version_text() {
  return fmt::format("starling {}\nMPI    {}\nEigen  {}.{}.{}\nHDF5   {}.{}.{}\n", version(), mpi_version(),
                     EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, H5_VERS_MAJOR, H5_VERS_MINOR,
                     H5_VERS_RELEASE);
}

}  // namespace starling
