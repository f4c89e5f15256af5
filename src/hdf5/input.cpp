#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>

#include "files/text.hpp"
#include "hdf5/file.hpp"

namespace starling::hdf5 {

namespace {

/// The innermost reason of the library's last failure.
std::string reason() {
  std::string text = "no reason given";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* error, void* result) -> herr_t {
        if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(result) = error->desc;
        return 0;
      },
      &text);
  return text;
}

/// Handle of an object that the user's file should contain.
Handle open_handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) {
  check<DataError>(id >= 0, "{} cannot be read: {}. Check the file.", what, id >= 0 ? "" : reason());
  return {id, close, what};
}

void require_data(bool done, const std::string& what) {
  check<DataError>(done, "{} cannot be read: {}. The file is damaged or cut off.", what, done ? "" : reason());
}

/// Check of the signature. Its error says why a file is not HDF5, as far as the first bytes tell.
void check_signature(const std::string& path) {
  std::error_code ignored;
  check(!std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored),
        "cannot read '{}': it is no regular file, and HDF5 is read in place. Name a file.", path);
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  check(file != nullptr, "cannot open '{}': {}. Check the path and its permissions.", path, std::strerror(errno));
  std::array<char, 2> head{};
  const std::size_t got = std::fread(head.data(), 1, head.size(), file.get());
  check<DataError>(got != head.size() || std::string_view(head.data(), 2) != "\x1F\x8B",
                   "{}: gzipped: HDF5 is read in place. Gunzip it first.", path);
  const htri_t found = H5Fis_hdf5(path.c_str());
  check<DataError>(found > 0, "{}: not an HDF5 file: it has no HDF5 signature. Check the path or --format.", path);
}

hid_t open_quietly(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  check_signature(path);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_access(path));
  check<DataError>(id >= 0, "{}: a damaged or truncated HDF5 file: {}. Fetch it again.", path, id >= 0 ? "" : reason());
  return id;
}

std::string_view name_of(H5T_class_t type) {
  switch (type) {
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "records of several fields";
    case H5T_ENUM:
      return "an enumeration or truth values";
    default:
      return "of a type that is neither integer nor float";
  }
}

/// Places and lengths of the parts of a float.
struct FloatFields {
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa = 0;
  std::size_t mantissa_bits = 0;
};

/// None where the library refuses the type.
std::optional<FloatFields> float_fields(hid_t type) {
  FloatFields f;
  const bool found = H5Tget_fields(type, &f.sign, &f.exponent, &f.exponent_bits, &f.mantissa, &f.mantissa_bits) >= 0;
  return found ? std::optional(f) : std::nullopt;
}

/// Whether the bits of a number lie inside its bytes. The library does not check a damaged description and reads beyond
/// the buffer.
bool is_sound(hid_t type, H5T_class_t kind) {
  constexpr std::size_t largest = 16;
  const std::size_t size = H5Tget_size(type);
  const int offset = H5Tget_offset(type);
  const std::size_t bits = H5Tget_precision(type);
  if (size == 0 || size > largest || offset < 0 || bits == 0) return false;
  const std::size_t end = static_cast<std::size_t>(offset) + bits;
  if (bits > 8 * size || end > 8 * size) return false;
  if (kind == H5T_INTEGER) return true;
  const auto f = float_fields(type);
  return f && f->sign < end && f->exponent_bits > 0 && f->exponent_bits < bits &&
         f->exponent + f->exponent_bits <= end && f->mantissa_bits > 0 && f->mantissa_bits < bits &&
         f->mantissa + f->mantissa_bits <= end;
}

/// Binary digits of a float; more than a double's count as that, and so do whole numbers that 64 bits do not hold.
std::optional<int> digits_of(hid_t type, H5T_class_t kind) {
  constexpr std::size_t most = std::numeric_limits<double>::digits;
  if (kind == H5T_INTEGER) return H5Tget_size(type) <= 8 ? std::nullopt : std::optional(static_cast<int>(most));
  return static_cast<int>(std::min(float_fields(type).value_or(FloatFields{}).mantissa_bits + 1, most));
}

/// The file that the library takes for the source of a virtual dataset: "." is the file itself. None where none is
/// there.
std::optional<std::string> source_file(const std::string& path, const std::string& name) {
  if (name == ".") return path;
  std::vector<std::filesystem::path> folders{std::filesystem::path(path).parent_path(), ""};
  if (const char* prefix = std::getenv("HDF5_VDS_PREFIX")) folders.emplace_back(prefix);
  std::vector<std::filesystem::path> places;
  for (const auto& folder : folders) {
    places.push_back(folder / name);
    places.push_back(folder / std::filesystem::path(name).filename());
  }
  std::error_code ignored;
  const auto found =
      std::ranges::find_if(places, [&](const auto& place) { return std::filesystem::is_regular_file(place, ignored); });
  return found == places.end() ? std::nullopt : std::optional(found->string());
}

std::string joined(const Sizes& sizes) {
  std::string text;
  for (const hsize_t size : sizes) text += fmt::format("{}{}", text.empty() ? "" : " × ", size);
  return text;
}

Sizes extent(hid_t space, const std::string& what) {
  const int rank = H5Sget_simple_extent_ndims(space);
  require_data(rank >= 0, what);
  Sizes sizes(static_cast<std::size_t>(rank));
  require_data(H5Sget_simple_extent_dims(space, sizes.data(), nullptr) >= 0, what);
  return sizes;
}

/// Bytes of the chunks that one row spans; 0 if the dataset is not stored in chunks.
std::size_t band_bytes(hid_t set, const std::string& what) {
  const Handle creation = open_handle(H5Dget_create_plist(set), H5Pclose, what);
  if (H5Pget_layout(creation) != H5D_CHUNKED) return 0;
  const Handle space = open_handle(H5Dget_space(set), H5Sclose, what);
  const Handle type = open_handle(H5Dget_type(set), H5Tclose, what);
  const Sizes sizes = extent(space, what);
  Sizes chunk(sizes.size());
  require_data(H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) >= 0, what);
  double bytes = static_cast<double>(H5Tget_size(type));
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const hsize_t chunks = axis == 0 ? 1 : (sizes[axis] + chunk[axis] - 1) / chunk[axis];
    bytes *= static_cast<double>(chunk[axis]) * static_cast<double>(chunks);
  }
  constexpr double most = 1 << 29;
  return static_cast<std::size_t>(std::min(bytes, most));
}

/// Reads an attribute or a dataset as a whole.
void read_all(hid_t object, hid_t type, void* values, const std::string& what) {
  const bool attribute = H5Iget_type(object) == H5I_ATTR;
  require_data(
      (attribute ? H5Aread(object, type, values) : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values)) >= 0,
      what);
}

std::vector<std::string> fixed_texts(hid_t object, hid_t type, std::size_t count, const std::string& what) {
  const std::size_t size = H5Tget_size(type);
  std::vector<char> bytes(size * count);
  read_all(object, type, bytes.data(), what);
  std::vector<std::string> texts;
  texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view text(bytes.data() + i * size, size);
    texts.emplace_back(text.substr(0, text.find('\0')));
  }
  return texts;
}

std::vector<std::string> variable_texts(hid_t object, hid_t type, hid_t space, std::size_t count,
                                        const std::string& what) {
  std::vector<char*> pointers(count, nullptr);
  read_all(object, type, pointers.data(), what);
  std::vector<std::string> texts;
  texts.reserve(count);
  for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
  return texts;
}

/// The texts of an attribute or a dataset of texts, a single text being a list of one.
std::vector<std::string> texts_of(hid_t object, hid_t type, hid_t space, const std::string& what) {
  constexpr std::size_t most = std::size_t{1} << 28;  // bytes
  const Sizes sizes = extent(space, what);
  check<DataError>(H5Tget_class(type) == H5T_STRING && sizes.size() <= 1, "{} is no list of texts; restore the file",
                   what);
  const std::size_t count = sizes.empty() ? 1 : static_cast<std::size_t>(sizes[0]);
  check<DataError>(count <= most / std::max<std::size_t>(H5Tget_size(type), 1), "{} is too long; restore the file",
                   what);
  return H5Tis_variable_str(type) > 0 ? variable_texts(object, type, space, count, what)
                                      : fixed_texts(object, type, count, what);
}

/// Handle of an attribute; none without the object or the attribute.
std::optional<Handle> open_attribute(hid_t file, const std::string& object, const std::string& name,
                                     const std::string& what) {
  if (object != "/" && H5Lexists(file, object.c_str(), H5P_DEFAULT) <= 0) return std::nullopt;
  if (H5Aexists_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return std::nullopt;
  return open_handle(H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
}

}  // namespace

Input::Input(const std::string& path) : path_(path), id_(open_quietly(path), H5Fclose, path) {}

bool Input::has(const std::string& name) const {
  if (H5Lexists(id_, name.c_str(), H5P_DEFAULT) <= 0) return false;
  const hid_t object = H5Oopen(id_, name.c_str(), H5P_DEFAULT);
  if (object < 0) return false;
  const Handle closing(object, H5Oclose, name);
  return H5Iget_type(object) == H5I_DATASET;
}

std::optional<double> Input::number(const std::string& object, const std::string& attribute) const {
  const std::string what = fmt::format("{}: attribute '{}' of '{}'", path_, attribute, object);
  const std::optional<Handle> opened = open_attribute(id_, object, attribute, what);
  if (!opened) return std::nullopt;
  const Handle type = open_handle(H5Aget_type(*opened), H5Tclose, what);
  const Handle space = open_handle(H5Aget_space(*opened), H5Sclose, what);
  const H5T_class_t kind = H5Tget_class(type);
  check<DataError>(
      (kind == H5T_INTEGER || kind == H5T_FLOAT) && is_sound(type, kind) && H5Sget_simple_extent_npoints(space) == 1,
      "{} is no number; restore the file", what);
  double value = 0;
  read_all(*opened, H5T_NATIVE_DOUBLE, &value, what);
  return value;
}

std::optional<std::string> Input::text(const std::string& object, const std::string& attribute) const {
  const std::string what = fmt::format("{}: attribute '{}' of '{}'", path_, attribute, object);
  const std::optional<Handle> opened = open_attribute(id_, object, attribute, what);
  if (!opened) return std::nullopt;
  const Handle type = open_handle(H5Aget_type(*opened), H5Tclose, what);
  const Handle space = open_handle(H5Aget_space(*opened), H5Sclose, what);
  const std::vector<std::string> texts = texts_of(*opened, type, space, what);
  check<DataError>(texts.size() == 1, "{} is no text; restore the file", what);
  return texts.front();
}

std::vector<std::string> Input::texts(const std::string& dataset) const {
  const std::string what = path_ + ": " + dataset;
  const Handle set = open_handle(H5Dopen2(id_, dataset.c_str(), H5P_DEFAULT), H5Dclose, what);
  const Handle type = open_handle(H5Dget_type(set), H5Tclose, what);
  const Handle space = open_handle(H5Dget_space(set), H5Sclose, what);
  return texts_of(set, type, space, what);
}

std::vector<std::string> Input::attributes(const std::string& object) const {
  std::vector<std::string> names;
  if (object != "/" && H5Lexists(id_, object.c_str(), H5P_DEFAULT) <= 0) return names;
  hsize_t from = 0;
  H5Aiterate_by_name(
      id_, object.c_str(), H5_INDEX_NAME, H5_ITER_INC, &from,
      [](hid_t, const char* name, const H5A_info_t*, void* data) -> herr_t {
        static_cast<std::vector<std::string>*>(data)->emplace_back(name);
        return 0;
      },
      &names, H5P_DEFAULT);
  return names;
}

std::string Input::contents() const {
  struct Listing {
    std::string text;
    int count = 0;
  } listing;
  constexpr int most = 20;
  H5Literate(
      id_, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr,
      [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
        auto& result = *static_cast<Listing*>(data);
        result.text += fmt::format("{}/{}", result.text.empty() ? "" : ", ", name);
        return ++result.count == most ? 1 : 0;
      },
      &listing);
  if (listing.count == most) listing.text += ", …";
  return listing.text.empty() ? "nothing" : listing.text;
}

NumberRows::NumberRows(const Input& input, const std::string& name)
    : path_(input.path()), name_(name), set_(open(input, name)) {
  check_type();
  const Handle space = open_handle(H5Dget_space(set_), H5Sclose, what());
  sizes_ = extent(space, what());
  check<DataError>(!sizes_.empty(), "{} is a single value: it must have an entry per record. Check the file.", what());
  constexpr hsize_t most = hsize_t{1} << 24;
  for (std::size_t axis = 1; axis < sizes_.size(); ++axis) {
    check<DataError>(sizes_[axis] == 0 || width_ <= most / sizes_[axis],
                     "{} is {}: more than {} values per record cannot be held. Check the file.", what(), joined(sizes_),
                     most);
    width_ *= sizes_[axis];
  }
  check_storage();
}

Handle NumberRows::open(const Input& input, const std::string& name) {
  const std::string what = input.path() + ": " + name;
  Handle set = open_handle(H5Dopen2(input.id(), name.c_str(), H5P_DEFAULT), H5Dclose, what);
  constexpr std::size_t usual_cache = std::size_t{1} << 20;
  const std::size_t band = band_bytes(set, what);
  if (band <= usual_cache) return set;
  // Chunks that do not fit into the cache would be decompressed anew for every slab.
  const Handle access = open_handle(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, what);
  constexpr std::size_t slots = 12421;
  require_data(H5Pset_chunk_cache(access, slots, band, 1) >= 0, what);
  return open_handle(H5Dopen2(input.id(), name.c_str(), access), H5Dclose, what);
}

void NumberRows::check_type() {
  const Handle type = open_handle(H5Dget_type(set_), H5Tclose, what());
  const H5T_class_t kind = H5Tget_class(type);
  check<DataError>(kind == H5T_INTEGER || kind == H5T_FLOAT,
                   "{} is {}: every value must be a number. Store integers or floats.", what(), name_of(kind));
  check<DataError>(is_sound(type, kind),
                   "{} has a type of number that cannot be: its bits do not fit into its bytes. The file is damaged.",
                   what());
  digits_ = digits_of(type, kind);
  unsigned_ = kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
}

void NumberRows::check_storage() {
  const Handle creation = open_handle(H5Dget_create_plist(set_), H5Pclose, what());
  const int filters = H5Pget_nfilters(creation);
  require_data(filters >= 0, what());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, name.size(), name.data(), nullptr);
    require_data(filter >= 0, what());
    check<DataError>(H5Zfilter_avail(filter) > 0,
                     "{} is compressed by filter {} '{}': this HDF5 library does not have it. Install it and set "
                     "HDF5_PLUGIN_PATH, or store the file with gzip.",
                     what(), filter, name.data());
  }
  if (H5Pget_layout(creation) != H5D_CHUNKED) return;
  Sizes chunk(sizes_.size());
  require_data(H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) >= 0, what());
  chunk_rows_ = std::max<hsize_t>(chunk[0], 1);
}

void NumberRows::require_values() const {
  const Handle creation = open_handle(H5Dget_create_plist(set_), H5Pclose, what());
  if (H5Pget_layout(creation) != H5D_VIRTUAL) {
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    require_data(H5Dget_space_status(set_, &status) >= 0, what());
    check<DataError>(status != H5D_SPACE_STATUS_NOT_ALLOCATED || rows() == 0 || width_ == 0,
                     "{} was never written: all its values would be read as zeros. Write it again.", what());
    return;
  }
  std::size_t mappings = 0;
  require_data(H5Pget_virtual_count(creation, &mappings) >= 0, what());
  double mapped = 0;
  for (std::size_t i = 0; i < mappings; ++i) {
    require_source(creation, i);
    const Handle here = open_handle(H5Pget_virtual_vspace(creation, i), H5Sclose, what());
    const hssize_t points = H5Sget_select_npoints(here);
    mapped += points < 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(points);  // of growing parts
  }
  check<DataError>(mapped >= static_cast<double>(rows()) * static_cast<double>(width_),
                   "{} is virtual, and some of its values have no source: they would be read as zeros. Complete it, or "
                   "copy the data into one file.",
                   what());
}

/// Throws DataError unless the source of a virtual dataset's part is there and large enough.
void NumberRows::require_source(hid_t creation, std::size_t mapping) const {
  const auto text = [&](auto get) {
    std::string name(static_cast<std::size_t>(std::max<ssize_t>(get(creation, mapping, nullptr, 0), 0)), '\0');
    get(creation, mapping, name.data(), name.size() + 1);
    return name;
  };
  const std::string file = text(H5Pget_virtual_filename);
  const std::string set = text(H5Pget_virtual_dsetname);
  if (file.find('%') != std::string::npos) return;  // a pattern of names, of as many files as there are
  const std::optional<std::string> found = source_file(path_, file);
  check<DataError>(found.has_value(),
                   "{} is virtual, and its source '{}' is not there: zeros would be read in its place. Fetch it too, "
                   "or copy the data into one file.",
                   what(), file);
  const Input input(*found);
  check<DataError>(input.has(set),
                   "{} is virtual, and its source '{}' has no dataset {}: zeros would be read. Restore it.", what(),
                   file, set);
  const NumberRows source(input, set);
  const Handle stored = open_handle(H5Dget_create_plist(source.set_), H5Pclose, source.what());
  check<DataError>(
      H5Pget_layout(stored) != H5D_VIRTUAL,
      "{} is virtual, and its source '{}' is so too: it may have sources in turn. Copy the data into one file.", what(),
      file);
  source.require_values();
  const Handle there = open_handle(H5Pget_virtual_srcspace(creation, mapping), H5Sclose, what());
  Sizes first(source.sizes().size());
  Sizes last(source.sizes().size());
  if (H5Sget_simple_extent_ndims(there) != static_cast<int>(last.size())) return;
  if (H5Sget_select_bounds(there, first.data(), last.data()) < 0) return;  // of a part that grows
  for (std::size_t axis = 0; axis < last.size(); ++axis) {
    check<DataError>(
        last[axis] < source.sizes()[axis],
        "{} is virtual, and its source '{}' has fewer values than it takes: zeros would be read. Restore the source.",
        what(), file);
  }
}

void NumberRows::read(hsize_t first, hsize_t count, double* values) const {
  if (count == 0 || width_ == 0) return;
  Sizes start(sizes_.size(), 0);
  Sizes counts = sizes_;
  start[0] = first;
  counts[0] = count;
  read_slab(start, counts, H5T_NATIVE_DOUBLE, values);
}

void NumberRows::read_whole(hsize_t first, hsize_t count, hsize_t column, void* values) const {
  read_slab({first, column}, {count, 1}, unsigned_ ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, values);
}

void NumberRows::read_slab(const Sizes& start, const Sizes& counts, hid_t type, void* values) const {
  const Handle stored = open_handle(H5Dget_space(set_), H5Sclose, what());
  require_data(H5Sselect_hyperslab(stored, H5S_SELECT_SET, start.data(), nullptr, counts.data(), nullptr) >= 0, what());
  const Handle memory =
      open_handle(H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr), H5Sclose, what());
  require_data(H5Dread(set_, type, memory, stored, H5P_DEFAULT, values) >= 0,
               fmt::format("{}: records {} to {}", what(), start[0] + 1, start[0] + counts[0]));
}

std::vector<std::string> NumberRows::texts(const std::string& attribute) const {
  const std::string place = fmt::format("{}: attribute '{}'", what(), attribute);
  if (H5Aexists(set_, attribute.c_str()) <= 0) return {};
  const Handle opened = open_handle(H5Aopen(set_, attribute.c_str(), H5P_DEFAULT), H5Aclose, place);
  const Handle type = open_handle(H5Aget_type(opened), H5Tclose, place);
  const Handle space = open_handle(H5Aget_space(opened), H5Sclose, place);
  const Sizes sizes = extent(space, place);
  check<DataError>(H5Tget_class(type) == H5T_STRING && sizes.size() == 1,
                   "{} is no list of texts: it names the columns. Store one name per column or remove it.", place);
  const auto count = static_cast<std::size_t>(sizes[0]);
  check<DataError>(count == width_, "{} has {} names: there are {} columns. Store one name per column or remove it.",
                   place, count, width_);
  const std::vector<std::string> texts = texts_of(opened, type, space, place);
  for (std::size_t k = 0; k < texts.size(); ++k) {
    check<DataError>(!text_fault(texts[k]),
                     "{}: name {} (from 0) is not UTF-8: names stand in tables and pictures, which are UTF-8. Write it "
                     "as UTF-8",
                     place, k);
  }
  return texts;
}

}  // namespace starling::hdf5
