// Handles of the HDF5 C library that close themselves. Files are opened, written and closed again for each batch of
// records. Recorded data survive any end of the process, and can be read during the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "core/check.hpp"

namespace starling::hdf5 {

using Sizes = std::vector<hsize_t>;

/// Owner of one HDF5 identifier.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(id), close_(close) {
    check<FailureError>(id >= 0, "{}: HDF5 refused. See whether the disk is full or the file is of another program.",
                        what);
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

inline void require(herr_t status, const std::string& what) {
  check<FailureError>(status >= 0, "{}: HDF5 refused. See whether the disk is full.", what);
}

/// Access property list without file locks: each file has one writer, and readers during a run do not block it.
[[nodiscard]] Handle file_access(const std::string& what);
/// The type of UTF-8 texts of variable length.
[[nodiscard]] Handle text_type(const std::string& what);
/// Enlarges a dataset to `start` + `count` in its first dimension, and writes the values there. `type` is that of the
/// values in memory.
void append_block(hid_t set, hid_t type, const Sizes& start, const Sizes& count, const void* values,
                  const std::string& what);

template <class T>
[[nodiscard]] hid_t type_of() {
  if constexpr (std::is_same_v<T, double>) {
    return H5T_NATIVE_DOUBLE;
  } else {
    static_assert(std::is_same_v<T, std::int64_t>);
    return H5T_NATIVE_INT64;
  }
}

/// An HDF5 file. Errors are reported as exceptions, so HDF5's own printing of errors is switched off.
class File {
 public:
  enum class Mode { create, append, read };
  File(const std::string& path, Mode mode)
      : path_(path), id_(open(path, mode), H5Fclose, "cannot open '" + path + "'") {}

  /// A file in memory alone. `what` names it in messages.
  [[nodiscard]] static File in_memory(const std::string& what);
  /// The bytes of the file so far.
  [[nodiscard]] std::string bytes() const;

  [[nodiscard]] hid_t id() const { return id_; }
  [[nodiscard]] bool has(const std::string& name) const { return H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0; }

  void make_group(const std::string& name) const {
    Handle(H5Gcreate2(id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, where(name));
  }

  template <class T>
  void write(const std::string& name, const Sizes& sizes, const std::vector<T>& values) const {
    write_block(name, sizes, std::span<const T>(values));
  }
  /// Writes a dataset from borrowed memory.
  template <class T>
  void write_block(const std::string& name, const Sizes& sizes, std::span<const T> values) const {
    const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose, where(name));
    const Handle set(H5Dcreate2(id_, name.c_str(), type_of<T>(), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Dclose, where(name));
    if (!values.empty()) {
      require(H5Dwrite(set, type_of<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), where(name));
    }
  }

  /// Creates an empty dataset that grows along its first dimension. `tail` holds the sizes of the other dimensions.
  template <class T>
  void make_growing(const std::string& name, const Sizes& tail) const {
    Sizes now{0};
    Sizes most{H5S_UNLIMITED};
    Sizes chunk{1};
    hsize_t row = 1;
    for (const hsize_t size : tail) {
      now.push_back(size);
      most.push_back(size);
      chunk.push_back(size == 0 ? 1 : size);
      row *= size == 0 ? 1 : size;
    }
    while (chunk[0] * row * sizeof(T) < 8192) chunk[0] *= 2;
    const Handle space(H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()), H5Sclose, where(name));
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where(name));
    require(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()), where(name));
    Handle(H5Dcreate2(id_, name.c_str(), type_of<T>(), space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
           where(name));
  }

  /// Appends whole rows to a growing dataset.
  template <class T>
  void append(const std::string& name, const std::vector<T>& values) const {
    const Handle set(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose, where(name));
    Sizes sizes = shape(set, name);
    hsize_t row = 1;
    for (std::size_t i = 1; i < sizes.size(); ++i) row *= sizes[i];
    const hsize_t rows = row == 0 ? 0 : values.size() / row;
    if (rows == 0) return;
    Sizes start(sizes.size(), 0);
    start[0] = std::exchange(sizes[0], rows);
    append_block(set, type_of<T>(), start, sizes, values.data(), where(name));
  }

  template <class T>
  [[nodiscard]] std::pair<Sizes, std::vector<T>> read(const std::string& name) const {
    const Handle set(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose, where(name));
    const Sizes sizes = shape(set, name);
    std::size_t total = 1;
    for (const hsize_t size : sizes) total *= size;
    std::vector<T> values(total);
    if (total > 0) require(H5Dread(set, type_of<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), where(name));
    return {sizes, std::move(values)};
  }

  void attribute(const std::string& object, const std::string& name, const std::string& value) const {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, where(name));
    require(H5Tset_size(type, value.size() + 1), where(name));
    require(H5Tset_cset(type, H5T_CSET_UTF8), where(name));
    write_attribute(object, name, type, value.c_str());
  }
  /// Writes a list of texts (UTF-8, of variable length).
  void write_texts(const std::string& name, const std::vector<std::string>& texts) const;
  void attribute(const std::string& object, const std::string& name, double value) const {
    write_attribute(object, name, H5T_NATIVE_DOUBLE, &value);
  }

  /// Links to the object of the same name in another file of the run directory.
  void link_external(const std::string& name, const std::string& file) const {
    require(H5Lcreate_external(file.c_str(), name.c_str(), id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), where(name));
  }

  /// A part of a virtual dataset: `count` columns of dimension `axis`, from another file.
  struct Part {
    std::string file;
    hsize_t count = 0;
  };

  /// A virtual dataset that joins the parts along `axis`. `tail` are the sizes of all dimensions (that of `axis` is the
  /// sum of the parts); with `growing` the first dimension is as long as the parts' is when read.
  void join(const std::string& name, Sizes sizes, std::size_t axis, bool growing, const std::vector<Part>& parts) const;

 private:
  File(std::string path, hid_t id) : path_(std::move(path)), id_(id, H5Fclose, "cannot make '" + path_ + "'") {}
  static hid_t open(const std::string& path, Mode mode) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access = file_access(path);
    if (mode == Mode::create) return H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access);
    return H5Fopen(path.c_str(), mode == Mode::append ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
  }
  [[nodiscard]] std::string where(const std::string& name) const { return fmt::format("'{}' of '{}'", name, path_); }
  [[nodiscard]] Sizes shape(hid_t set, const std::string& name) const {
    const Handle space(H5Dget_space(set), H5Sclose, where(name));
    Sizes sizes(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    return sizes;
  }
  void write_attribute(const std::string& object, const std::string& name, hid_t type, const void* value) const {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose, where(name));
    const Handle attribute(
        H5Acreate_by_name(id_, object.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose, where(name));
    require(H5Awrite(attribute, type, value), where(name));
  }

  std::string path_;
  Handle id_;
};

/// An input file of the user. The file is only read, never written or locked. Faults of its content are reported as
/// DataError.
class Input {
 public:
  /// Throws UsageError if the file cannot be opened, DataError if it is not (whole) HDF5.
  explicit Input(const std::string& path);

  [[nodiscard]] hid_t id() const { return id_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether a dataset has this name.
  [[nodiscard]] bool has(const std::string& name) const;
  /// The number in a dataset or group's attribute; none without it. Throws DataError for an attribute that is no
  /// number.
  [[nodiscard]] std::optional<double> number(const std::string& object, const std::string& attribute) const;
  /// The text in a dataset or group's attribute; none without it. Throws DataError for an attribute that is no text.
  [[nodiscard]] std::optional<std::string> text(const std::string& object, const std::string& attribute) const;
  /// A dataset that is a list of texts. Throws DataError for any other dataset.
  [[nodiscard]] std::vector<std::string> texts(const std::string& dataset) const;
  /// Names of the attributes of a dataset or group, in order; none without it.
  [[nodiscard]] std::vector<std::string> attributes(const std::string& object) const;
  /// Names in the file's root, as "/x, /y, /group/"; at most 20 names.
  [[nodiscard]] std::string contents() const;

 private:
  std::string path_;
  Handle id_;
};

/// A numeric dataset of an input, of any integer or float type, read as doubles by rows. A row is an entry of the first
/// dimension with all its values.
class NumberRows {
 public:
  /// Throws DataError if the dataset is not numeric, has no dimension or needs a filter that is not available.
  NumberRows(const Input& input, const std::string& name);

  [[nodiscard]] const Sizes& sizes() const { return sizes_; }
  [[nodiscard]] hsize_t rows() const { return sizes_[0]; }
  /// Number of values of a row.
  [[nodiscard]] hsize_t width() const { return width_; }
  /// Number of rows that are stored together; 1 if the dataset is not stored in chunks.
  [[nodiscard]] hsize_t rows_of_chunk() const { return chunk_rows_; }
  /// Binary digits of a value's type where it is a float, at most those of a double; none for whole numbers, which 64
  /// bits hold.
  [[nodiscard]] std::optional<int> digits() const { return digits_; }
  /// Whether whole numbers have no sign.
  [[nodiscard]] bool is_unsigned() const { return unsigned_; }
  /// Reads `count` rows from `first` on into count × width() values. Throws DataError.
  void read(hsize_t first, hsize_t count, double* values) const;
  /// Reads one column of a dataset of two dimensions that has whole numbers, as std::int64_t or std::uint64_t. Throws
  /// DataError.
  void read_whole(hsize_t first, hsize_t count, hsize_t column, void* values) const;
  /// Value of an attribute that is a list of texts, fixed or variable in length; empty if the attribute is missing.
  /// Throws DataError if the attribute is not a list of texts.
  [[nodiscard]] std::vector<std::string> texts(const std::string& attribute) const;
  /// Throws DataError for a virtual dataset that has no source for some values, and for one that was never written: the
  /// library reads zeros there.
  void require_values() const;

 private:
  void require_source(hid_t creation, std::size_t mapping) const;
  [[nodiscard]] static Handle open(const Input& input, const std::string& name);
  void check_type();
  void check_storage();
  void read_slab(const Sizes& start, const Sizes& counts, hid_t type, void* values) const;
  [[nodiscard]] std::string what() const { return path_ + ": " + name_; }

  std::string path_;
  std::string name_;
  Handle set_;
  Sizes sizes_;
  hsize_t width_ = 1;
  hsize_t chunk_rows_ = 1;
  std::optional<int> digits_;
  bool unsigned_ = false;
};

}  // namespace starling::hdf5
