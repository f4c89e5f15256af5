#include "data/formats/writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/ranges.h>
#include <zlib.h>

#include "core/check.hpp"
#include "data/cells/number.hpp"
#include "data/column_names.hpp"
#include "files/durable_file.hpp"
#include "files/text_files.hpp"
#include "hdf5/file.hpp"

namespace starling {

namespace {

[[noreturn]] void throw_write_error(const std::string& path, const char* why) {
  throw FailureError(fmt::format("cannot write '{}': {}. Check the folder, its permissions and the disk.", path, why));
}

void put_on_disk(const std::string& file, const std::string& shown) {
  const Descriptor descriptor(file, O_RDONLY);
  const bool done = descriptor.get() >= 0 && (::fsync(descriptor.get()) == 0 || errno == EINVAL);
  if (!done) throw_write_error(shown, std::strerror(errno));
}

unsigned without_umask(unsigned permissions) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return permissions & ~static_cast<unsigned>(mask);
}

/// Calls visit(feature, value) for the entries of a row that are stored, in ascending order.
template <class Visit>
void for_each_entry(const Row& row, Visit visit) {
  for (std::size_t k = 0; k < row.values.size(); ++k) {
    visit(row.feature(k), row.values[k]);
  }
}

// text

/// Writes text, gzipped where the name of the file says so.
class TextOutput {
 public:
  TextOutput(std::string path, const std::string& file) : path_(std::move(path)) {
    errno = 0;
    file_ = gzopen(file.c_str(), path_.ends_with(".gz") ? "wb6" : "wbT");
    if (file_ == nullptr) throw_write_error(path_, errno == 0 ? "out of memory" : std::strerror(errno));
    gzbuffer(file_, 1U << 18);
  }
  ~TextOutput() {
    if (file_ != nullptr) gzclose_w(file_);
  }
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void write(std::string_view text) {
    if (text.empty()) return;
    errno = 0;
    if (gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) == 0) throw_write_error(path_, why());
    bytes_ += text.size();
  }
  void close() {
    errno = 0;
    if (gzclose_w(std::exchange(file_, nullptr)) != Z_OK) throw_write_error(path_, why());
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  static const char* why() { return errno == 0 ? "the compression failed" : std::strerror(errno); }

  std::string path_;
  gzFile_s* file_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// A feature's name as it can stand in the first line: on one line, quoted where it must be, and never taken for the
/// label's.
std::string column_name(const std::vector<std::string>& names, std::size_t feature) {
  if (feature >= names.size() || names[feature].empty()) return fmt::format("x{}", feature);
  std::string name = names[feature];
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  }
  if (is_label_name(name)) return "feature_" + name;
  return name.find_first_of(",; \"") == std::string::npos ? name : csv_quoted(name);
}

class CsvWriter final : public RecordWriter {
 public:
  CsvWriter(std::string path, WriteSettings settings)
      : RecordWriter(std::move(path), std::move(settings)), output_(this->path(), temporary()) {
    for (std::size_t j = 0; j < this->settings().features; ++j) {
      line_ += fmt::format("{},", column_name(this->settings().names, j));
      if (line_.size() > longest_piece) put();
    }
    line_.append(std::string_view("y\n"));
    put();
  }
  [[nodiscard]] std::uint64_t bytes() const override { return output_.bytes(); }

 private:
  void write(const Row& row, double label) override {
    std::size_t next = 0;
    for_each_entry(row, [&](std::size_t feature, double value) {
      put_zeros(feature - next);
      line_ += fmt::format("{},", value);
      if (line_.size() > longest_piece) put();
      next = feature + 1;
    });
    put_zeros(settings().features - next);
    line_ += fmt::format("{}\n", label);
    put();
  }
  void close() override { output_.close(); }

  void put_zeros(std::size_t count) {
    for (; count > 0; --count) {
      line_.append(std::string_view("0,"));
      if (line_.size() > longest_piece) put();
    }
  }
  void put() {
    output_.write({line_.data(), line_.size()});
    line_.clear();
  }

  static constexpr std::size_t longest_piece = std::size_t{1} << 20;
  TextOutput output_;
  std::string line_;
};

class SvmlightWriter final : public RecordWriter {
 public:
  SvmlightWriter(std::string path, WriteSettings settings)
      : RecordWriter(std::move(path), std::move(settings)), output_(this->path(), temporary()) {}
  [[nodiscard]] std::uint64_t bytes() const override { return output_.bytes(); }
  [[nodiscard]] std::size_t visible_features() const override { return largest_; }

 private:
  void write(const Row& row, double label) override {
    line_ += fmt::format("{}", label);
    for_each_entry(row, [this](std::size_t feature, double value) {
      if (value == 0) return;
      line_ += fmt::format(" {}:{}", feature + 1, value);
      largest_ = std::max(largest_, feature + 1);
    });
    line_.push_back('\n');
    output_.write({line_.data(), line_.size()});
    line_.clear();
  }
  void close() override { output_.close(); }

  TextOutput output_;
  std::string line_;
  std::size_t largest_ = 0;
};

// HDF5

using hdf5::Handle;
using hdf5::require;
using hdf5::Sizes;

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr hsize_t label_block = block_bytes / 2 / sizeof(double);

/// A file that could not be completed, as on a full disk, cannot be closed either; HDF5 would try again when the
/// process ends, and crash (seen with 1.10.8). Handles close everything else, so that nothing is left to do then. This
/// must come before any other call of HDF5.
const bool nothing_at_exit = H5dont_atexit() >= 0;

/// Records are gathered into blocks of about 1 MB, which are the chunks of /x. The data sets are made with the first
/// block, so that a file of few records is no larger than they are.
class Hdf5Writer final : public RecordWriter {
 public:
  Hdf5Writer(std::string path, WriteSettings settings)
      : RecordWriter(std::move(path), std::move(settings)), file_(create(temporary(), this->path())) {
    width_ = this->settings().features;
    value_bytes_ = this->settings().precision == StoredPrecision::float32 ? sizeof(float) : sizeof(double);
    block_rows_ = std::max<std::size_t>(1, block_bytes / (value_bytes_ * std::max<std::size_t>(1, width_)));
    write_text(*file_, "source", this->settings().source);
    write_text(*file_, "command", this->settings().command);
  }
  [[nodiscard]] std::uint64_t bytes() const override {
    return static_cast<std::uint64_t>(records()) * (width_ * value_bytes_ + sizeof(double));
  }

 private:
  static Handle create(const std::string& file, const std::string& shown) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access = hdf5::file_access(shown);
    // Attributes beyond 64 kB, such as many names, need the format of HDF5 1.8.
    require(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), shown);
    return {H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "cannot write '" + shown + "'"};
  }

  void write(const Row& row, double label) override {
    const std::size_t from = values_.size();
    values_.resize(from + width_);
    for_each_entry(row, [&](std::size_t feature, double value) { values_[from + feature] = value; });
    labels_.push_back(label);
    if (labels_.size() == block_rows_) flush();
  }

  void close() override {
    flush();
    require(H5Fflush(*file_, H5F_SCOPE_GLOBAL), "cannot write '" + path() + "'");
    x_.reset();
    y_.reset();
    file_.reset();
    values_ = Vector();  // many writers may wait for publish
    labels_ = Vector();
  }

  void flush() {
    if (!x_) make_sets();
    const hsize_t count = labels_.size();
    hdf5::append_block(*x_, H5T_NATIVE_DOUBLE, {written_, 0}, {count, width_}, values_.data(), what());
    hdf5::append_block(*y_, H5T_NATIVE_DOUBLE, {written_}, {count}, labels_.data(), what());
    written_ += count;
    values_.clear();
    labels_.clear();
  }

  void make_sets() {
    const hsize_t rows = std::max<hsize_t>(1, labels_.size());
    const hsize_t columns = std::clamp<hsize_t>(width_, 1, block_bytes / value_bytes_);
    const hid_t stored = value_bytes_ == sizeof(float) ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    x_.emplace(make_set("x", stored, {0, width_}, {rows, columns}));
    // Fewer rows than a block: these rows end the file.
    y_.emplace(make_set("y", H5T_IEEE_F64LE, {0}, {rows < block_rows_ ? rows : std::max(rows, label_block)}));
    if (!settings().names.empty()) write_names(*x_, settings().names);
  }

  [[nodiscard]] Handle make_set(const char* name, hid_t type, const Sizes& sizes, const Sizes& chunk) const {
    Sizes most = sizes;
    most[0] = H5S_UNLIMITED;
    const auto rank = static_cast<int>(sizes.size());
    const Handle space(H5Screate_simple(rank, sizes.data(), most.data()), H5Sclose, what());
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what());
    require(H5Pset_chunk(properties, rank, chunk.data()), what());
    return {H5Dcreate2(*file_, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose, what()};
  }

  void write_attribute(hid_t object, const char* name, hid_t space, const std::vector<const char*>& texts) const {
    const Handle type = hdf5::text_type(what());
    const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what());
    require(H5Awrite(attribute, type, texts.data()), what());
  }
  void write_text(hid_t object, const char* name, const std::string& text) const {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose, what());
    write_attribute(object, name, space, {text.c_str()});
  }
  void write_names(hid_t object, const std::vector<std::string>& names) const {
    std::vector<const char*> texts;
    texts.reserve(names.size());
    for (const std::string& name : names) texts.push_back(name.c_str());
    const hsize_t count = texts.size();
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, what());
    write_attribute(object, "names", space, texts);
  }

  [[nodiscard]] std::string what() const { return "cannot write '" + path() + "'"; }

  std::optional<Handle> file_;
  std::optional<Handle> x_;
  std::optional<Handle> y_;
  std::size_t width_ = 0;
  std::size_t value_bytes_ = sizeof(double);
  std::size_t block_rows_ = 1;
  Vector values_;  // of the records that wait, row after row
  Vector labels_;
  hsize_t written_ = 0;
};

// the output_formats

template <class Writer>
std::unique_ptr<RecordWriter> make(const std::string& path, const WriteSettings& settings) {
  return std::make_unique<Writer>(path, settings);
}

struct OutputFormat {
  std::vector<std::string_view> endings;
  bool nonzeros;
  std::unique_ptr<RecordWriter> (*open)(const std::string&, const WriteSettings&);
};

const OutputFormat& format_of(const std::string& path) {
  static const std::array output_formats{
      OutputFormat{{".h5", ".hdf5"}, false, make<Hdf5Writer>},
      OutputFormat{{".csv", ".csv.gz"}, false, make<CsvWriter>},
      OutputFormat{
          {".svm", ".svm.gz", ".libsvm", ".libsvm.gz", ".svmlight", ".svmlight.gz"}, true, make<SvmlightWriter>},
  };
  std::vector<std::string_view> known;
  for (const OutputFormat& format : output_formats) {
    for (const std::string_view ending : format.endings) {
      if (path.ends_with(ending)) return format;
      known.push_back(ending);
    }
  }
  throw UsageError(
      fmt::format("cannot write '{}': the name must end in one of {}. Rename it.", path, fmt::join(known, ", ")));
}

}  // namespace

RecordWriter::RecordWriter(std::string path, WriteSettings settings)
    : path_(std::move(path)), settings_(std::move(settings)), temporary_(path_ + ".part-XXXXXX") {
  const int descriptor = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor < 0) {
    temporary_.clear();
    throw_write_error(path_, std::strerror(errno));
  }
  ::close(descriptor);
}

RecordWriter::~RecordWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void RecordWriter::check_value(double value, double most, std::size_t feature) const {
  if (std::abs(value) <= most) return;
  const std::string name = settings_.names.empty() ? fmt::format("{} (from 0)", feature)
                                                   : fmt::format("'{}'", excerpt(settings_.names[feature]));
  check<DataError>(settings_.precision == StoredPrecision::float64 || !std::isfinite(value),
                   "feature {} is {}: beyond single precision. Leave --precision float out.", name, value);
  fail<DataError>("feature {} is {}: every value must be finite. Give a smaller --scale.", name, value);
}

void RecordWriter::add(const Row& row, double label) {
  const double most = settings_.precision == StoredPrecision::float32 ? double{std::numeric_limits<float>::max()}
                                                                      : std::numeric_limits<double>::max();
  for_each_entry(row, [&](std::size_t feature, double value) { check_value(value, most, feature); });
  if (settings_.features > 0) {
    const std::size_t needed = row.width();
    check<DataError>(row.sparse() ? needed <= settings_.features : needed == settings_.features,
                     "{} features: {} were expected. Give all records the same.", needed, settings_.features);
  }
  write(row, label);
  ++records_;
}

void RecordWriter::finish() {
  close();
  put_on_disk(temporary_, path_);
}

void RecordWriter::publish() {
  ::chmod(temporary_.c_str(), static_cast<mode_t>(without_umask(settings_.permissions)));
  bool done = false;
  if (!settings_.replace) {
    done = ::link(temporary_.c_str(), path_.c_str()) == 0;
    check<FailureError>(done || errno != EEXIST,
                        "'{}' exists: it came up in the meantime. Give another --output, or --force.", path_);
  }
  // A file system without hard links gets here too.
  if (done) {
    ::unlink(temporary_.c_str());
  } else if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw_write_error(path_, std::strerror(errno));
  }
  temporary_.clear();
}

std::unique_ptr<RecordWriter> open_writer(const std::string& path, const WriteSettings& settings) {
  return format_of(path).open(path, settings);
}

bool writes_nonzeros(const std::string& path) {
  return format_of(path).nonzeros;
}

void copy_records(RecordReader& reader, RecordWriter& writer, const std::function<void()>& tick) {
  Record record;
  while (reader.next(record)) {
    try {
      writer.add(record.row(), record.label);
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: {}", reader.where(), error.what()));
    }
    tick();
  }
}

}  // namespace starling
