#include "hdf5_shapes.hpp"

#include <array>
#include <cstring>
#include <vector>

#include <hdf5.h>

#include "hdf5/file.hpp"
#include "target.hpp"

namespace starling::fuzz {

namespace {

using hdf5::Handle;
using hdf5::Sizes;

Handle text_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "text");
  H5Tset_size(type, size);
  return type;
}

Handle compound_type() {
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(double)), H5Tclose, "compound");
  H5Tinsert(type, "value", 0, H5T_NATIVE_DOUBLE);
  return type;
}

Handle half_type() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose, "half");
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

class Maker {
 public:
  Maker(hid_t file, std::string_view choices) : file_(file), choices_(choices) {}

  void run() {
    make("x", 2);
    make("y", 1);
  }

 private:
  std::size_t choose(std::size_t count) { return fuzz::choose(choices_, count); }

  /// A dataset, mostly, `rank` being the number of dimensions that it should have.
  void make(const char* name, std::size_t rank) {
    switch (choose(12)) {
      case 0:
        return;
      case 1:
        Handle(H5Gcreate2(file_, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, name);
        return;
      case 2:
        H5Lcreate_soft(choose(2) == 0 ? "/nowhere" : "/x", file_, name, H5P_DEFAULT, H5P_DEFAULT);
        return;
      case 3:
        H5Lcreate_external("/nowhere.h5", "/x", file_, name, H5P_DEFAULT, H5P_DEFAULT);
        return;
      default:
        make_dataset(name, rank);
    }
  }

  Handle type() {
    constexpr std::size_t others = 4;
    const std::array plain{H5T_IEEE_F64LE, H5T_IEEE_F64BE,     H5T_IEEE_F32LE, H5T_STD_I8LE,
                           H5T_STD_U8LE,   H5T_STD_I16BE,      H5T_STD_U32LE,  H5T_STD_I64LE,
                           H5T_STD_U64BE,  H5T_NATIVE_LDOUBLE, H5T_STD_B8LE,   H5T_STD_REF_OBJ};
    const std::size_t kind = choose(plain.size() + others);
    if (kind < plain.size()) return {H5Tcopy(plain[kind]), H5Tclose, "type"};
    switch (kind - plain.size()) {
      case 0:
        return text_type(choose(2) == 0 ? 3 : H5T_VARIABLE);
      case 1:
        return compound_type();
      case 2:
        return half_type();
      default:
        return {H5Tenum_create(H5T_NATIVE_INT8), H5Tclose, "enumeration"};
    }
  }

  Handle space(std::size_t rank, Sizes& sizes) {
    if (choose(16) == 1) return {H5Screate(choose(2) == 0 ? H5S_SCALAR : H5S_NULL), H5Sclose, "space"};
    if (choose(16) == 1) rank = choose(4);
    for (std::size_t axis = 0; axis < rank; ++axis) sizes.push_back(choose(7));
    if (choose(16) == 1 && !sizes.empty()) sizes[0] *= 100;
    const Sizes most(rank, H5S_UNLIMITED);
    return {H5Screate_simple(static_cast<int>(rank), sizes.data(), most.data()), H5Sclose, "space"};
  }

  Handle storage(const Sizes& sizes) {
    Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "storage");
    Sizes chunk;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) chunk.push_back(1 + choose(9));
    if (!chunk.empty()) H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (choose(4) == 1 && !chunk.empty()) H5Pset_shuffle(creation);
    if (choose(4) == 1 && !chunk.empty()) H5Pset_fletcher32(creation);
    if (choose(2) == 1 && !chunk.empty()) H5Pset_deflate(creation, 1);
    return creation;
  }

  /// Of mostly small numbers; now and then whatever eight bytes stand for.
  std::vector<double> numbers(std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) {
      value = static_cast<double>(choose(256));
      if (value < 255 || choices_.size() < sizeof value) continue;
      std::memcpy(&value, choices_.data(), sizeof value);
      choices_.remove_prefix(sizeof value);
    }
    return values;
  }

  void make_dataset(const char* name, std::size_t rank) {
    Sizes sizes;
    const Handle kind = type();
    const Handle extent = space(rank, sizes);
    const Handle creation = storage(sizes);
    const hid_t id = H5Dcreate2(file_, name, kind, extent, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (id < 0) return;
    const Handle set(id, H5Dclose, name);
    std::size_t count = sizes.empty() ? 0 : 1;
    for (const hsize_t size : sizes) count *= size;
    const std::vector<double> values = numbers(count);
    if (count > 0) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    if (choose(3) == 1) make_names(set, sizes.size() < 2 ? 1 : sizes[1]);
  }

  void make_names(hid_t set, hsize_t count) {
    if (choose(8) == 1) count = choose(9);
    const std::size_t kind = choose(4);
    const Handle type = kind < 2    ? text_type(kind == 0 ? 2 : H5T_VARIABLE)
                        : kind == 2 ? text_type(1 + choose(200))
                                    : this->type();
    const Sizes sizes(1 + (choose(16) == 1 ? 1U : 0U), count);
    const Handle extent(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose, "names");
    const hid_t id = H5Acreate2(set, "names", type, extent, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) return;
    const Handle attribute(id, H5Aclose, "names");
    if (H5Tget_class(type) == H5T_STRING) write_names(attribute, type, count * count);
  }

  void write_names(hid_t attribute, hid_t type, std::size_t count) {
    if (count == 0) return;
    std::vector<char> letters(H5Tget_size(type) * count);
    for (char& letter : letters) letter = static_cast<char>('a' + choose(26));
    std::array<char, 4> name{"na"};
    const std::vector<char*> pointers(count, name.data());
    const void* const what = H5Tis_variable_str(type) > 0 ? static_cast<const void*>(pointers.data()) : letters.data();
    H5Awrite(attribute, type, what);
  }

  hid_t file_;
  std::string_view choices_;
};

}  // namespace

std::string hdf5_file(std::string_view choices) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "access");
  constexpr std::size_t increment = std::size_t{1} << 16;
  H5Pset_fapl_core(access, increment, 0);
  const Handle file(H5Fcreate("made in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "file");
  Maker(file, choices).run();
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  std::string image(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)), '\0');
  require(H5Fget_file_image(file, image.data(), image.size()) > 0, "the image of a file");
  return image;
}

}  // namespace starling::fuzz
