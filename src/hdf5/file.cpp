#include "hdf5/file.hpp"

#include <algorithm>

namespace starling::hdf5 {

namespace {

/// Selects `count` entries from `from` along `axis`, everything along the others, without end along a growing first
/// one.
Handle selection(const Sizes& sizes, std::size_t axis, hsize_t from, hsize_t count, bool growing,
                 const std::string& what) {
  Sizes most = sizes;
  if (growing) most[0] = H5S_UNLIMITED;
  Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), most.data()), H5Sclose, what);
  Sizes start(sizes.size(), 0);
  Sizes counts(sizes.size(), 1);
  Sizes block = sizes;
  start[axis] = from;
  block[axis] = count;
  if (growing) {
    counts[0] = H5S_UNLIMITED;
    block[0] = 1;
  }
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, counts.data(), block.data()), what);
  return space;
}

}  // namespace

Handle file_access(const std::string& what) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, 0, 1);
#endif
  return access;
}

Handle text_type(const std::string& what) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, what);
  require(H5Tset_size(type, H5T_VARIABLE), what);
  require(H5Tset_cset(type, H5T_CSET_UTF8), what);
  return type;
}

void append_block(hid_t set, hid_t type, const Sizes& start, const Sizes& count, const void* values,
                  const std::string& what) {
  Sizes sizes = count;
  sizes[0] += start[0];
  require(H5Dset_extent(set, sizes.data()), what);
  if (std::ranges::find(count, hsize_t{0}) != count.end()) return;
  const Handle target(H5Dget_space(set), H5Sclose, what);
  require(H5Sselect_hyperslab(target, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), what);
  const Handle source(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose, what);
  require(H5Dwrite(set, type, source, target, H5P_DEFAULT, values), what);
}

File File::in_memory(const std::string& what) {
  constexpr std::size_t growth = std::size_t{1} << 16;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
  require(H5Pset_fapl_core(access, growth, 0), what);  // nothing goes to a disk
  return {what, H5Fcreate(what.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)};
}

std::string File::bytes() const {
  require(H5Fflush(id_, H5F_SCOPE_LOCAL), path_);
  const ssize_t size = H5Fget_file_image(id_, nullptr, 0);
  check<FailureError>(size > 0, "cannot hold '{}': HDF5 refused. See whether memory is full.", path_);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  check<FailureError>(H5Fget_file_image(id_, bytes.data(), bytes.size()) == size,
                      "cannot hold '{}': HDF5 refused. See whether memory is full.", path_);
  return bytes;
}

void File::join(const std::string& name, Sizes sizes, std::size_t axis, bool growing,
                const std::vector<Part>& parts) const {
  if (growing) sizes[0] = 1;
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where(name));
  hsize_t from = 0;
  for (const Part& part : parts) {
    const Handle here = selection(sizes, axis, from, part.count, growing, where(name));
    Sizes there_sizes = sizes;
    there_sizes[axis] = part.count;
    const Handle there = selection(there_sizes, axis, 0, part.count, growing, where(name));
    require(H5Pset_virtual(properties, here, part.file.c_str(), name.c_str(), there), where(name));
    from += part.count;
  }
  Sizes most = sizes;
  if (growing) {
    sizes[0] = 0;
    most[0] = H5S_UNLIMITED;
  }
  const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), most.data()), H5Sclose,
                     where(name));
  Handle(H5Dcreate2(id_, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
         where(name));
}

void File::write_texts(const std::string& name, const std::vector<std::string>& texts) const {
  const Handle type = text_type(where(name));
  const Sizes sizes{texts.size()};
  const Handle space(H5Screate_simple(1, sizes.data(), nullptr), H5Sclose, where(name));
  const Handle set(H5Dcreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                   where(name));
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  if (!texts.empty()) require(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), where(name));
}

}  // namespace starling::hdf5
