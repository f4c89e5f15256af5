// Keys as every format gives them: the texts, or exact whole numbers, as pandas and NumPy read them.
#include "data/cells/keys.hpp"

#include <cstring>
#include <limits>

#include <zlib.h>

#include "core/record_error.hpp"
#include "data/memory_records.hpp"
#include "data/reading.hpp"
#include "hdf5/file.hpp"

namespace starling::keys_test {

using namespace testing_support;
using Texts = std::vector<std::string>;

// 2^53 + 1 is the first whole number that doubles skip.
constexpr std::int64_t above = (std::int64_t{1} << 53) + 1;
constexpr std::int64_t ten_to_16 = 10'000'000'000'000'000;
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

/// An array of two columns, the second of which is the key, in Fortran order or not.
template <class T>
std::string npy(const std::string& type, const std::vector<T>& keys, bool fortran) {
  const std::size_t n = keys.size();
  std::vector<T> values(2 * n, T{1});
  for (std::size_t i = 0; i < n; ++i) values[fortran ? n + i : 2 * i + 1] = keys[i];
  const std::string header = "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
                             ", 'shape': (" + std::to_string(n) + ", 2), }\n";
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header + bytes;
}

class Keys : public testing::Test {
 protected:
  [[nodiscard]] static Texts read(const std::string& source, const std::string& column = "1") {
    ReadSettings settings;
    settings.key = column;
    settings.labels = ReadSettings::Labels::none;
    const auto reader = open_reader(source, settings);
    Texts keys;
    Record record;
    while (reader->next(record)) keys.push_back(record.key);
    return keys;
  }
  [[nodiscard]] static std::string fault(const std::string& source, const std::string& column = "1") {
    return message_of<RecordError>([&] { return read(source, column); });
  }
  /// A file whose /x has two columns, the second of which is the key.
  template <class T>
  [[nodiscard]] std::string hdf5(hid_t stored, hid_t type, const std::vector<T>& keys) const {
    const std::string path = folder_ / "x.h5";
    std::filesystem::remove(path);
    const hdf5::File file(path, hdf5::File::Mode::create);
    std::vector<T> values;
    for (const T key : keys) values.insert(values.end(), {T{1}, key});
    const hsize_t sizes[] = {keys.size(), 2};
    const hdf5::Handle space(H5Screate_simple(2, sizes, nullptr), H5Sclose, path);
    const hdf5::Handle set(H5Dcreate2(file.id(), "/x", stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                           path);
    hdf5::require(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), path);
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(Keys, OfTextAreItsTexts) {
  struct Case {
    std::string field, key;
  };
  const std::vector<Case> cases{{"9007199254740993", "9007199254740993"},
                                {"10000000000000000", "10000000000000000"},
                                {"18446744073709551616", "18446744073709551616"},
                                {"007", "007"},
                                {"7", "7"},
                                {"7.0", "7"},
                                {"-7.00", "-7"},
                                {"-0.0", "0"},
                                {"1.5", "1.5"},
                                {"1.50", "1.50"},
                                {"7.", "7."},
                                {"1.0.0", "1.0.0"},
                                {"3e5", "3e5"},
                                {" p 1 ", "p 1"},
                                {"\"p \"\"1\"\"\"", "p \"1\""},
                                {"\"7.0\"", "7"},
                                {"", ""}};
  std::string text = "a,k\n";
  std::string tabs = "a\tk\n";
  Texts expected;
  for (const Case& each : cases) {
    text += "1," + each.field + '\n';
    tabs += "1\t" + each.field + '\n';
    expected.push_back(each.key);
  }
  EXPECT_EQ(read(folder_.write("x.csv", text), "k"), expected);
  EXPECT_EQ(read(folder_.write("x.tsv", tabs), "k"), expected);
  const std::string packed = folder_ / "x.csv.gz";
  gzFile file = gzopen(packed.c_str(), "wb");
  EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  EXPECT_EQ(read(packed, "k"), expected);
}

// Spreadsheets write 1234567890123456 as 1.23457E+15, and pandas writes doubles of 16 digits and more so.
TEST_F(Keys, ThatAProgramHasRoundedAreRefused) {
  for (const std::string field : {"1.23457E+15", "1e+16", "9007199254740992.0", "10000000000000000.00"}) {
    EXPECT_THAT(fault(folder_.write("x.csv", "a,k\n1,7\n1," + field + "\n"), "k"),
                HasSubstr("row 3: column 'k' is '" + field + "': a rounded number"));
  }
}

TEST_F(Keys, OfArraysAreExact) {
  const Texts whole{"9007199254740993", "10000000000000000", "-3"};
  const std::vector<std::int64_t> keys{above, ten_to_16, -3};
  const std::vector<std::uint64_t> unsigned_keys{largest, 7};
  const Texts unsigned_texts{"18446744073709551615", "7"};
  for (const bool fortran : {false, true}) {
    EXPECT_EQ(read(folder_.write("x.npy", npy("<i8", keys, fortran))), whole);
    EXPECT_EQ(read(folder_.write("x.npy", npy("<u8", unsigned_keys, fortran))), unsigned_texts);
  }
  EXPECT_EQ(read(folder_.write("x.npy", npy<std::uint8_t>("|u1", {0, 255}, false))), (Texts{"0", "255"}));
  EXPECT_EQ(read(folder_.write("x.npy", npy<std::int16_t>("<i2", {-5, 300}, false))), (Texts{"-5", "300"}));
  EXPECT_EQ(read(hdf5(H5T_STD_I64LE, H5T_NATIVE_INT64, keys)), whole);
  EXPECT_EQ(read(hdf5(H5T_STD_I64BE, H5T_NATIVE_INT64, keys)), whole);
  EXPECT_EQ(read(hdf5(H5T_STD_U64LE, H5T_NATIVE_UINT64, unsigned_keys)), unsigned_texts);
  const std::vector<std::int64_t> rows{1, above, 1, ten_to_16, 1, -3};
  const OfferedRecords offered("whole", {.records = 3, .columns = 2, .x = rows.data(), .x_row = 2});
  EXPECT_EQ(read("memory:whole"), whole);
  const std::vector<std::uint64_t> unsigned_rows{1, largest, 1, 7};
  const OfferedRecords more("unsigned", {.records = 2, .columns = 2, .x = unsigned_rows.data(), .x_row = 2});
  EXPECT_EQ(read("memory:unsigned"), unsigned_texts);
}

TEST_F(Keys, OfFloatingPointAreWhatTheyCanBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> numbers{9007199254740991.0, -0.0, 0.1, 7, nan};
  const Texts expected{"9007199254740991", "0", "0.1", "7", ""};
  EXPECT_EQ(read(folder_.write("x.npy", npy("<f8", numbers, false))), expected);
  EXPECT_EQ(read(hdf5(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, numbers)), expected);
  EXPECT_EQ(read(folder_.write("x.npy", npy<float>("<f4", {16777215.0F, 0.1F}, false))), (Texts{"16777215", "0.1"}));
  EXPECT_EQ(read(hdf5(H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{16777215.0F, 0.1F})),
            (Texts{"16777215", "0.1"}));
  const std::vector<double> wide{7, 9007199254740992.0};  // or 2^53 + 1
  EXPECT_THAT(fault(folder_.write("x.npy", npy("<f8", wide, false))), HasSubstr("record 2: column 1 (from 0) of X is"));
  EXPECT_THAT(fault(hdf5(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, wide)), HasSubstr("of /x is no key"));
  EXPECT_THAT(fault(hdf5(H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>{16777216.0F})), HasSubstr("is no key"));
  EXPECT_THAT(fault(folder_.write("x.npy", npy<float>("<f4", {16777216.0F}, false))), HasSubstr("is no key"));
  const std::vector<double> rows{1, 16777216};
  MemoryRecords records{.records = 1, .columns = 2, .x = rows.data(), .x_row = 2};
  const OfferedRecords doubles("doubles", records);
  EXPECT_EQ(read("memory:doubles"), (Texts{"16777216"}));
  records.digits = {24, 24};
  const OfferedRecords singles("singles", records);
  EXPECT_THAT(fault("memory:singles"), HasSubstr("is no key"));
}

TEST(KeyTexts, AreOrderedByTheirExactValues) {
  const Texts ordered{"-10000000000000001", "-10000000000000000", "-1",  "0", "0.5", "1",
                      "9007199254740992",   "9007199254740993",   "1e17"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j)
      EXPECT_EQ(precedes_as_number(ordered[i], ordered[j]), i < j) << ordered[i] << " and " << ordered[j];
  }
}

// What pandas.read_csv reads as missing, and the marks that starling always knew.
TEST(KeyTexts, ThatAreMissingAreKnown) {
  for (const char* mark :
       {"",    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
        "N/A", "NA",   "NULL",     "NaN", "None",    "n/a",      "nan",  "null", "?",      "na",      "NaT"})
    EXPECT_TRUE(is_missing_key(mark)) << mark;
  for (const char* key : {"0", "p1", "Nan Li", "none such", "inf", "-"}) EXPECT_FALSE(is_missing_key(key)) << key;
}

}  // namespace starling::keys_test
