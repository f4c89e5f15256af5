/// NumPy's .npy, byte by byte. Archives and all types are read as NumPy writes them in the end-to-end tests.
#include <cstring>

#include "core/check.hpp"
#include "data/marking.hpp"
#include "data/reading.hpp"

namespace starling::numpy_test {

using namespace testing_support;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string npy(const std::string& header, const std::string& values, char version = 1) {
  std::string length{static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  if (version > 1) length += std::string(2, '\0');
  return std::string("\x93NUMPY") + version + '\0' + length + header + values;
}

std::string header_of(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }          \n";
}

class Npy : public testing::Test {
 protected:
  Plains read(const std::string& content, const DataSettings& settings = {}) const {
    return read_all(folder_.write("x.npy", content), settings);
  }

  TemporaryFolder folder_;
  const std::vector<double> six_{1, 2, 3, 4, 5, 6};
  const Plains rows_{Plain{{1, 2}, {}, 3}, Plain{{4, 5}, {}, 6}};
};

TEST_F(Npy, ReadsBothOrders) {
  EXPECT_EQ(read(npy(header_of("<f8", "(2, 3)"), bytes_of(six_))), rows_);
  EXPECT_EQ(read(npy(header_of("<f8", "(2, 3)", "True"), bytes_of<double>({1, 4, 2, 5, 3, 6}))), rows_);
  EXPECT_EQ(expect_marks_lead_back(folder_ / "x.npy", {}), 2U);
}

TEST_F(Npy, ReadsAllTypes) {
  EXPECT_EQ(read(npy(header_of("<f4", "(2, 3)"), bytes_of<float>({1, 2, 3, 4, 5, 6}))), rows_);
  EXPECT_EQ(read(npy(header_of("<i4", "(2, 3)"), bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6}))), rows_);
  EXPECT_EQ(read(npy(header_of("<i8", "(2, 3)"), bytes_of<std::int64_t>({1, 2, 3, 4, 5, 6}))), rows_);
  EXPECT_EQ(read(npy(header_of("|u1", "(2, 3)"), bytes_of<std::uint8_t>({1, 2, 3, 4, 5, 6}))), rows_);
  EXPECT_EQ(read(npy(header_of("|b1", "(1, 3)"), std::string("\0\1\1", 3))), (Plains{Plain{{0, 1}, {}, 1}}));
  EXPECT_EQ(read(npy(header_of("<i4", "(1, 2)"), bytes_of<std::int32_t>({-7, -1}))), (Plains{Plain{{-7}, {}, -1}}));
}

TEST_F(Npy, ReadsHeadersOfAnyOrderAndVersion) {
  const std::string values = bytes_of(six_);
  EXPECT_EQ(read(npy("{\"shape\":(2,3),\"descr\":\"<f8\",\"fortran_order\":False}", values, 2)), rows_);
  EXPECT_EQ(read(npy(header_of("<f8", "(2, 3,)"), values, 3)), rows_);
}

TEST_F(Npy, TakesTheLabelByNumber) {
  DataSettings settings;
  settings.label = "0";
  EXPECT_EQ(read(npy(header_of("<f8", "(2, 3)"), bytes_of(six_)), settings),
            (Plains{Plain{{2, 3}, {}, 1}, Plain{{5, 6}, {}, 4}}));
}

TEST_F(Npy, JoinsAPair) {
  const std::string y = folder_.write("y.npy", npy(header_of("<f8", "(2,)"), bytes_of<double>({7, 8})));
  const std::string x = folder_.write("x.npy", npy(header_of("<f8", "(2, 3)"), bytes_of(six_)));
  EXPECT_EQ(read_all(x + "," + y), (Plains{Plain{{1, 2, 3}, {}, 7}, Plain{{4, 5, 6}, {}, 8}}));
  expect_all_in(message_of<DataError>([&] { read_all(y + "," + x); }), {"values per record"});
}

// More than one slab.
TEST_F(Npy, ReadsOn) {
  std::vector<double> values(400'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const Plains found = read(npy(header_of("<f8", "(200000, 2)"), bytes_of(values)));
  ASSERT_EQ(found.size(), 200'000U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].values[0], values[2 * i]);
    ASSERT_EQ(found[i].label, values[2 * i + 1]);
  }
}

TEST_F(Npy, RefusesDamage) {
  const std::string values = bytes_of(six_);
  const std::vector<testing_support::Fault> faults{
      {"cut", npy(header_of("<f8", "(2, 3)"), values.substr(1)), {"x.npy", "truncated or damaged"}},
      {"more", npy(header_of("<f8", "(2, 3)"), values + "1"), {"x.npy", "truncated or damaged"}},
      {"no shape", npy("{'descr': '<f8', 'fortran_order': False, }", values), {"no NumPy header"}},
      {"another key", npy("{'descr': '<f8', 'x': 1}", values), {"no NumPy header"}},
      {"no dictionary", npy("", values), {"no NumPy header"}},
      {"no number", npy(header_of("<f8", "(2, a)"), values), {"no NumPy header"}},
      {"negative", npy(header_of("<f8", "(-2, 3)"), values), {"no NumPy header"}},
      {"too many", npy(header_of("<f8", "(281474976710656, 2)"), values), {"more than 2^48 values"}},
      {"wide", npy(header_of("<f8", "(1, 99999999)"), values), {"99999999 columns"}},
      {"type", npy(header_of("<f2", "(2, 3)"), values), {"'<f2'", "astype('float64')"}},
      {"text", npy(header_of("<U99999999", "(2, 3)"), values), {"no NumPy header"}},
      {"rank", npy(header_of("<f8", "(1, 2, 3)"), values), {"3 dimensions"}},
      {"version", npy(header_of("<f8", "(2, 3)"), values, 4), {"version 4"}},
      {"length", npy(header_of("<f8", "(2, 3)"), values).substr(0, 60), {"it ends inside its header"}},
      {"empty", "", {"no .npy file"}},
  };
  expect_refused(faults, [&](const std::string& content) { read(content); });
}

}  // namespace starling::numpy_test
