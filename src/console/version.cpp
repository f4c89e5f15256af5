#include "version.hpp"

#include <algorithm>
#include <cstring>
#include <link.h>
#include <span>
#include <string_view>

#include <Eigen/Core>
#include <fmt/format.h>
#include <hdf5.h>

#include "core/digest.hpp"
#include "net/host/mpi_session.hpp"
#include "options/toml_file.hpp"

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

constexpr const char* of_process = "/proc/self/exe";

/// The loaded file that has this code: the program, or a library inside another program.
struct OwnFile {
  std::string build_id;  ///< empty without one
  std::string path = of_process;
};

bool has_this_code(const dl_phdr_info& file) {
  const auto here = reinterpret_cast<ElfW(Addr)>(&has_this_code);
  const std::span parts(file.dlpi_phdr, file.dlpi_phnum);
  return std::ranges::any_of(parts, [&](const ElfW(Phdr) & part) {
    const ElfW(Addr) begin = file.dlpi_addr + part.p_vaddr;
    return part.p_type == PT_LOAD && here >= begin && here < begin + part.p_memsz;
  });
}

int look_at_own_file(dl_phdr_info* file, std::size_t, void* result) {
  if (!has_this_code(*file)) return 0;
  auto& own = *static_cast<OwnFile*>(result);
  if (file->dlpi_name != nullptr && *file->dlpi_name != '\0') own.path = file->dlpi_name;
  for (const ElfW(Phdr) & part : std::span(file->dlpi_phdr, file->dlpi_phnum)) {
    if (part.p_type != PT_NOTE) continue;
    const std::string_view notes(reinterpret_cast<const char*>(file->dlpi_addr + part.p_vaddr), part.p_memsz);
    const std::string_view id = note_of(notes, NT_GNU_BUILD_ID, part.p_align == 8 ? 8 : 4);
    if (id.size() >= digest_bytes) own.build_id = to_hex(id);
  }
  return 1;
}

OwnFile own_file() {
  OwnFile own;
  dl_iterate_phdr(look_at_own_file, &own);
  return own;
}

}  // namespace

bool is_own_program() {
  return own_file().path == of_process;
}

std::string build_digest() {
  const OwnFile own = own_file();
  return own.build_id.empty() ? sha256_of_file(own.path) : own.build_id;
}

std::string version() {
  return fmt::format("{} ({})", STARLING_VERSION, STARLING_REVISION);
}

std::string version_text() {
  const std::string toml = toml_version();
  return fmt::format("starling {}\nMPI    {}\nEigen  {}.{}.{}\nHDF5   {}.{}.{}\ntoml++ {}\n", version(), mpi_version(),
                     EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, H5_VERS_MAJOR, H5_VERS_MINOR,
                     H5_VERS_RELEASE, toml.empty() ? "none (--config reads INI alone)" : toml);
}

}  // namespace starling
