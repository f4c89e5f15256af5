#include <array>
#include <cmath>
#include <fcntl.h>
#include <limits>
#include <numeric>
#include <string>
#include <sys/file.h>
#include <unistd.h>

#include "core/check.hpp"
#include "data/marking.hpp"
#include "hdf5/file.hpp"

namespace starling::hdf5_test {

using namespace testing_support;
using hdf5::File;
using hdf5::Handle;
using hdf5::Sizes;

/// How a dataset is stored.
struct Storage {
  hid_t type = H5T_NATIVE_DOUBLE;
  Sizes chunk = {};  // empty: contiguous
  unsigned deflate = 0;
};

void write_numbers(const File& file, const std::string& name, const Sizes& sizes, const std::vector<double>& values,
                   const Storage& storage) {
  const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose, name);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
  if (!storage.chunk.empty()) H5Pset_chunk(creation, static_cast<int>(sizes.size()), storage.chunk.data());
  if (storage.deflate > 0) H5Pset_deflate(creation, storage.deflate);
  const Handle set(H5Dcreate2(file.id(), name.c_str(), storage.type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                   H5Dclose, name);
  hdf5::require(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
}

void write_texts(const File& file, const std::vector<const char*>& texts) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "names");
  H5Tset_size(type, H5T_VARIABLE);
  const hsize_t count = texts.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, "names");
  const Handle attribute(
      H5Acreate_by_name(file.id(), "/x", "names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      "names");
  hdf5::require(H5Awrite(attribute, type, texts.data()), "names");
}

void write_fixed_texts(const File& file, const std::string& bytes, std::size_t size) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "names");
  H5Tset_size(type, size);
  const hsize_t count = bytes.size() / size;
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, "names");
  const Handle attribute(
      H5Acreate_by_name(file.id(), "/x", "names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      "names");
  hdf5::require(H5Awrite(attribute, type, bytes.data()), "names");
}

std::vector<double> count_up(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

class Hdf5 : public testing::Test {
 protected:
  /// A new file, written by `fill`.
  std::string make(const std::function<void(const File&)>& fill) const {
    std::filesystem::remove(path_);
    fill(File(path_, File::Mode::create));
    return path_;
  }
  /// x is 3 × 2 and y of 3.
  std::string make_small(const Storage& storage = {}) const {
    return make([&storage](const File& file) {
      write_numbers(file, "/x", {3, 2}, {1, 2, 3, 4, 5, 6}, storage);
      file.write<double>("/y", {3}, {0.5, 1, -1});
    });
  }
  template <class E = DataError>
  std::string error(const std::function<void(const File&)>& fill) const {
    make(fill);
    return message_of<E>([this] { read_all(path_, settings_); });
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "x.h5";
  DataSettings settings_;
};

const Plains small{{{1, 2}, {}, 0.5}, {{3, 4}, {}, 1}, {{5, 6}, {}, -1}};

TEST_F(Hdf5, ReadsAnyTypeOfNumber) {
  for (const hid_t type : {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_IEEE_F32BE, H5T_NATIVE_LDOUBLE, H5T_NATIVE_INT8,
                           H5T_NATIVE_UINT8, H5T_STD_I16BE, H5T_STD_U32LE, H5T_NATIVE_INT64, H5T_STD_U64BE}) {
    EXPECT_EQ(read_all(make_small({type})), small);
  }
}

TEST_F(Hdf5, LabelsMayBeAColumn) {
  make([](const File& file) {
    file.write<std::int64_t>("/x", {2, 1}, {7, 8});
    file.write<std::int64_t>("/y", {2, 1}, {1, 0});
  });
  EXPECT_EQ(read_all(path_), (Plains{{{7}, {}, 1}, {{8}, {}, 0}}));
}

TEST_F(Hdf5, TheContentTellsIt) {
  const std::string path = make_small();
  std::filesystem::rename(path, folder_ / "x.mat");
  EXPECT_EQ(read_all(folder_ / "x.mat"), small);
}

TEST_F(Hdf5, LayoutsReadAlikeAndMarksLeadBack) {
  constexpr std::size_t n = 97;
  constexpr std::size_t d = 31;
  const auto write = [&](const Storage& storage) {
    return make([&storage](const File& file) {
      write_numbers(file, "/x", {n, d}, count_up(n * d), storage);
      write_numbers(file, "/y", {n}, count_up(n), {H5T_NATIVE_INT32, {10}, 1});
    });
  };
  const Plains expected = read_all(write({}));
  ASSERT_EQ(expected.size(), n);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(expected[i].label, static_cast<double>(i));
    for (std::size_t j = 0; j < d; ++j) EXPECT_EQ(expected[i].values[j], static_cast<double>(i * d + j));
  }
  for (const Storage& storage :
       {Storage{H5T_NATIVE_FLOAT, {}}, Storage{H5T_NATIVE_FLOAT, {1, 31}}, Storage{H5T_NATIVE_INT16, {10, 7}, 6},
        Storage{H5T_NATIVE_DOUBLE, {97, 31}, 1}, Storage{H5T_NATIVE_DOUBLE, {64, 1}, 1}}) {
    EXPECT_EQ(read_all(write(storage)), expected);
    EXPECT_EQ(expect_marks_lead_back(path_), n);
  }
}

TEST_F(Hdf5, ManySlabsReadAsOne) {
  constexpr std::size_t n = 60'000;
  constexpr std::size_t d = 20;
  for (const Storage& storage : {Storage{H5T_NATIVE_INT32, {}}, Storage{H5T_NATIVE_INT32, {1000, 20}, 1},
                                 Storage{H5T_NATIVE_INT32, {n, 20}, 1}}) {
    make([&storage](const File& file) {
      write_numbers(file, "/x", {n, d}, count_up(n * d), storage);
      write_numbers(file, "/y", {n}, count_up(n), {});
    });
    const auto reader = open_reader(path_, {});
    Record record;
    double next = 0;
    while (reader->next(record)) {
      for (const double value : record.values) ASSERT_EQ(value, next++);
    }
    EXPECT_EQ(next, n * d);
    for (const std::uint64_t i : {59'999U, 0U, 30'000U, 30'001U, 6'553U}) {
      reader->seek({i, static_cast<std::int64_t>(i)});
      ASSERT_TRUE(reader->next(record));
      EXPECT_EQ(record.label, static_cast<double>(i));
      EXPECT_EQ(record.values[0], static_cast<double>(i * d));
    }
  }
}

TEST_F(Hdf5, LabelsAreReadAlone) {
  make([](const File& file) {
    write_numbers(file, "/x", {3, 1}, {1, NAN, 3}, {});
    write_numbers(file, "/y", {3}, {4, 5, 6}, {});
  });
  const auto reader = open_reader(path_, {});
  EXPECT_EQ(reader->records(), 3);
  Record record;
  ASSERT_TRUE(reader->next(record));
  ASSERT_TRUE(reader->next_label(record)) << "past features that could not be read";
  EXPECT_EQ(record.label, 5);
  ASSERT_TRUE(reader->next(record));
  EXPECT_EQ(record.values, (Vector{3}));
  EXPECT_FALSE(reader->next_label(record));
}

TEST_F(Hdf5, ColumnsHaveRoles) {
  make([](const File& file) {
    write_numbers(file, "/x", {2, 4}, {7, 1, 2, 0.5, 8, 3, 4, 1}, {});
    write_texts(file, {"who", "a", "b", "out"});
  });
  settings_.key = "who";
  settings_.label = "out";
  const auto reader = open_reader(path_, settings_);
  EXPECT_THAT(reader->names(), ElementsAre("a", "b"));
  EXPECT_EQ(reader->features(), 2U);
  const auto marked = read_marked(*reader);
  ASSERT_EQ(marked.size(), 2U);
  EXPECT_EQ(marked[1].read.record, (Plain{{3, 4}, {}, 1}));
  EXPECT_EQ(marked[1].read.key, "8");
  EXPECT_EQ(marked[1].read.where, path_ + ": record 2");
  reader->seek(marked[0].mark);
  Record record;
  ASSERT_TRUE(reader->next_label(record));
  EXPECT_EQ(record.label, 0.5);
  EXPECT_EQ(record.key, "7");
  settings_ = {};
  settings_.label = "3";
  settings_.id = "0";
  settings_.drop = {"b"};
  EXPECT_EQ(read_all(path_, settings_), (Plains{{{1}, {}, 0.5}, {{3}, {}, 1}}));
}

TEST_F(Hdf5, NamesMayBeOfFixedLength) {
  make([](const File& file) {
    write_numbers(file, "/x", {1, 2}, {7, 1}, {});
    file.write<double>("/y", {1}, {0});
    write_fixed_texts(file, std::string("ab\0abc", 6), 3);
  });
  EXPECT_THAT(open_reader(path_, {})->names(), ElementsAre("ab", "abc"));
}

TEST_F(Hdf5, StandsInPairs) {
  const std::string path = make_small();
  const std::string csv = folder_.write("x.csv", "1,2\n3,4\n5,6\n");
  EXPECT_EQ(read_all(csv + "," + path), small);
  const std::string labels = folder_.write("y.csv", "0.5\n1\n-1\n");
  EXPECT_EQ(read_all(path + "," + labels), small) << "its own /y is left alone";
  EXPECT_EQ(expect_marks_lead_back(path + "," + labels), 3U);
}

TEST_F(Hdf5, ReadingNeitherWritesNorLocks) {
  const std::string path = make_small();
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  const auto before = std::filesystem::last_write_time(path);
  const int other = ::open(path.c_str(), O_RDONLY);
  ASSERT_GE(other, 0);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  const auto reader = open_reader(path, {});
  EXPECT_EQ(read_all(*reader), small) << "while somebody else has locked it";
  ASSERT_EQ(::flock(other, LOCK_UN), 0);
  ASSERT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0) << "the reader is open and holds no lock";
  ::close(other);
  EXPECT_EQ(std::filesystem::last_write_time(path), before);
}

TEST_F(Hdf5, MissingDatasetsAreToldWithWhatIsThere) {
  EXPECT_EQ(error([](const File& file) { file.write<double>("/data", {1}, {0}); }),
            path_ + ": no dataset /x: the file holds /data. Store the features as /x.");
  EXPECT_THAT(error([](const File&) {}), HasSubstr("no dataset /x: the file holds nothing."));
  EXPECT_THAT(error([](const File& file) { file.make_group("/x"); }), HasSubstr("no dataset /x: the file holds /x."));
  EXPECT_EQ(
      error([](const File& file) {
        file.write<double>("/x", {1, 1}, {0});
        file.write<double>("/z", {1}, {0});
      }),
      path_ + ": no dataset /y: the file holds /x, /z. Store the labels as /y, or name a column of /x by --label.");
}

TEST_F(Hdf5, ShapesMustFit) {
  const auto shapes = [this](const Sizes& x, const Sizes& y) {
    return error([&](const File& file) {
      const auto total = [](const Sizes& sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), hsize_t{1}, std::multiplies<>());
      };
      file.write<double>("/x", x, std::vector<double>(total(x)));
      file.write<double>("/y", y, std::vector<double>(total(y)));
    });
  };
  EXPECT_EQ(shapes({2, 3}, {2}), "");
  EXPECT_THAT(shapes({2}, {2}), HasSubstr("/x has 1 dimensions: it must have 2, records and features."));
  EXPECT_THAT(shapes({2, 2, 2}, {2}), HasSubstr("/x has 3 dimensions"));
  EXPECT_THAT(shapes({2, 0}, {2}), HasSubstr("/x has no column"));
  EXPECT_THAT(shapes({}, {2}), HasSubstr("/x is a single value"));
  EXPECT_THAT(shapes({2, 3}, {3}), HasSubstr("2 rows of /x and 3 of /y"));
  EXPECT_THAT(shapes({2, 3}, {2, 2}),
              HasSubstr("/y has 2 dimensions and 2 values per record: a record has one label."));
  EXPECT_THAT(shapes({2, 3}, {2, 1, 1}), HasSubstr("/y has 3 dimensions"));
}

TEST_F(Hdf5, ValuesMustBeFiniteNumbers) {
  const auto values = [this](const std::vector<double>& x, const std::vector<double>& y) {
    return error([&](const File& file) {
      write_numbers(file, "/x", {2, 2}, x, {});
      write_numbers(file, "/y", {2}, y, {});
    });
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(values({1, 2, 3, NAN}, {0, 0}),
              HasSubstr("x.h5: record 2: column 1 (from 0) of /x is nan: every value must be a finite number"));
  EXPECT_THAT(values({-infinity, 2, 3, 4}, {0, 0}), HasSubstr("x.h5: record 1: column 0 (from 0) of /x is -inf"));
  EXPECT_THAT(values({1, 2, 3, 4}, {0, infinity}), HasSubstr("x.h5: record 2: column 0 (from 0) of /y is inf"));
  EXPECT_THAT(error([](const File& file) {
                const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "x");
                const std::array<hsize_t, 2> sizes{1, 1};
                const Handle space(H5Screate_simple(2, sizes.data(), nullptr), H5Sclose, "x");
                Handle(H5Dcreate2(file.id(), "/x", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose, "x");
              }),
              HasSubstr("x.h5: /x is text: every value must be a number."));
}

TEST_F(Hdf5, NamesMustFitTheColumns) {
  const auto names = [this](const std::vector<const char*>& texts) {
    return error([&](const File& file) {
      write_numbers(file, "/x", {1, 2}, {1, 2}, {});
      file.write<double>("/y", {1}, {0});
      write_texts(file, texts);
    });
  };
  EXPECT_THAT(names({"a"}), HasSubstr("/x: attribute 'names' has 1 names: there are 2 columns."));
  EXPECT_THAT(error([](const File& file) {
                write_numbers(file, "/x", {1, 2}, {1, 2}, {});
                file.attribute("/x", "names", 3.0);
              }),
              HasSubstr("/x: attribute 'names' is no list of texts"));
  settings_.drop = {"c"};
  EXPECT_THAT(error<UsageError>([](const File& file) {
                write_numbers(file, "/x", {1, 2}, {1, 2}, {});
                write_texts(file, {"a", "b"});
              }),
              HasSubstr("no column 'c': the columns are a, b;"));
}

/// Stands in for a compression that is there when the file is written and not when it is read.
std::size_t no_change(unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
  return bytes;
}

TEST_F(Hdf5, AMissingFilterIsNamed) {
  constexpr H5Z_filter_t number = 32'765;
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, number, 1, 1, "squeeze", nullptr, nullptr, no_change};
  ASSERT_GE(H5Zregister(&filter), 0);
  make([](const File& file) {
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "x");
    const std::array<hsize_t, 2> sizes{2, 2};
    H5Pset_chunk(creation, 2, sizes.data());
    H5Pset_filter(creation, number, H5Z_FLAG_MANDATORY, 0, nullptr);
    const Handle space(H5Screate_simple(2, sizes.data(), nullptr), H5Sclose, "x");
    const Handle set(H5Dcreate2(file.id(), "/x", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose,
                     "x");
    const std::array<int, 4> values{1, 2, 3, 4};
    hdf5::require(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "x");
    file.write<double>("/y", {2}, {0, 1});
  });
  EXPECT_EQ(read_all(path_).size(), 2U);
  ASSERT_GE(H5Zunregister(number), 0);
  EXPECT_THAT(message_of<DataError>([this] { read_all(path_); }),
              HasSubstr("x.h5: /x is compressed by filter 32765 'squeeze': this HDF5 library does not have it."));
}

TEST_F(Hdf5, NamesAreUtf8) {
  {
    const File file(folder_ / "n.h5", File::Mode::create);
    write_numbers(file, "x", {1, 2}, count_up(2), {});
    write_numbers(file, "y", {1}, count_up(1), {});
    write_texts(file, {"caf\xC3\xA9", "caf\xE9"});
  }
  EXPECT_ERROR(DataError, "name 1 (from 0) is not UTF-8", read_all(folder_ / "n.h5"));
}

TEST_F(Hdf5, FilesThatAreNoneAreTold) {
  const auto content = [this](const std::string& bytes) {
    return message_of<DataError>([&] { read_all(folder_.write("y.h5", bytes)); });
  };
  EXPECT_EQ(content("1,2,3\n"),
            (folder_ / "y.h5") + ": not an HDF5 file: it has no HDF5 signature. Check the path or --format.");
  EXPECT_THAT(content(""), HasSubstr("not an HDF5 file"));
  EXPECT_THAT(content("\x1F\x8B\x08"), HasSubstr("gzipped: HDF5 is read in place. Gunzip it first"));
  EXPECT_EQ(message_of<UsageError>([] { read_all("no/such.h5"); }),
            "cannot open 'no/such.h5': No such file or directory. Check the path and its permissions.");
}

TEST_F(Hdf5, ATruncatedFileIsTold) {
  make([](const File& file) {
    file.write<double>("/x", {1000, 2}, count_up(2000));
    file.write<double>("/y", {1000}, count_up(1000));
  });
  for (const std::uintmax_t size : {std::filesystem::file_size(path_) - 1, std::uintmax_t{4096}, std::uintmax_t{20}}) {
    std::filesystem::resize_file(path_, size);
    EXPECT_THAT(message_of<DataError>([this] { read_all(path_); }),
                HasSubstr("x.h5: a damaged or truncated HDF5 file: "))
        << size;
  }
}

TEST_F(Hdf5, OptionsOfTextAndOtherDimensionsAreRefused) {
  make_small();
  const auto refused = [this] { return message_of<UsageError>([this] { read_all(path_, settings_); }); };
  settings_.delimiter = "tab";
  EXPECT_THAT(refused(), HasSubstr("--delimiter: the file is not delimited text."));
  settings_ = {};
  settings_.dimension = 5;
  EXPECT_THAT(refused(), HasSubstr("2 features: --dimension says 5"));
}

// Where a source is missing the library reads zeros.
TEST_F(Hdf5, AVirtualDatasetNeedsAllItsSources) {
  const auto part = [&](const std::string& name, hsize_t rows) {
    const std::string path = folder_ / name;
    std::filesystem::remove(path);
    File(path, File::Mode::create).write<double>("/x", {rows, 2}, std::vector<double>(2 * rows, 7));
  };
  const auto joined = [&](const std::vector<File::Part>& parts) {
    return make([&](const File& file) {
      file.join("/x", {5, 2}, 0, false, parts);
      file.write<double>("/y", {5}, {1, 1, 1, 1, 1});
    });
  };
  part("a.h5", 3);
  part("b.h5", 2);
  const std::string whole = joined({{"a.h5", 3}, {"b.h5", 2}});
  EXPECT_EQ(read_all(whole), Plains(5, Plain{{7, 7}, {}, 1}));
  EXPECT_THAT(message_of<DataError>([&] { read_all(joined({{"a.h5", 3}})); }), HasSubstr("/x is virtual, and some of"));
  joined({{"a.h5", 3}, {"b.h5", 2}});
  part("b.h5", 1);
  EXPECT_THAT(message_of<DataError>([&] { read_all(whole); }), HasSubstr("its source 'b.h5' has fewer values"));
  std::filesystem::remove(folder_ / "b.h5");
  EXPECT_THAT(message_of<DataError>([&] { read_all(whole); }), HasSubstr("its source 'b.h5' is not there"));
}

TEST_F(Hdf5, ADatasetThatWasNeverWrittenIsRefused) {
  const std::string path = make([](const File& file) {
    const Sizes sizes{3, 2};
    const Handle space(H5Screate_simple(2, sizes.data(), nullptr), H5Sclose, "/x");
    const Handle set(H5Dcreate2(file.id(), "/x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Dclose, "/x");
    file.write<double>("/y", {3}, {0.5, 1, -1});
  });
  EXPECT_THAT(message_of<DataError>([&] { read_all(path); }), HasSubstr("/x was never written"));
}

}  // namespace starling::hdf5_test
