/// Helpers of the tests of the module data.
#pragma once

#include <cstdint>
#include <functional>
#include <gmock/gmock.h>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "core/check.hpp"
#include "data/serving/dataset.hpp"
#include "data/source.hpp"
#include "support/testing.hpp"

namespace starling::testing_support {

/// A record in a form that compares and prints.
struct Plain {
  Vector values;
  std::vector<std::int32_t> index;
  double label = 0;
  friend bool operator==(const Plain&, const Plain&) = default;
  friend bool operator<(const Plain& a, const Plain& b) {
    return std::tie(a.label, a.values, a.index) < std::tie(b.label, b.values, b.index);
  }
};
using Plains = std::vector<Plain>;

inline Plain plain(const Row& row, double label) {
  return {Vector(row.values.begin(), row.values.end()), {row.index.begin(), row.index.end()}, label};
}

inline Plains plain(const Batch& batch) {
  Plains result;
  for (std::size_t i = 0; i < batch.size(); ++i) result.push_back(plain(batch.row(i), batch.label(i)));
  return result;
}

/// Looks into a secret by the capture that core/boundary.hpp says types cannot prevent: tests only.
template <class T>
T opened(const Secret<T>& secret) {
  T result;
  static_cast<void>(secret.map([&result](const T& value) {
    result = value;
    return 0;
  }));
  return result;
}

inline Plains peek(const Secret<Batch>& secret) {
  return plain(opened(secret));
}

inline Plains read_all(RecordReader& reader) {
  Plains result;
  Record record;
  while (reader.next(record)) result.push_back(plain(record.row(), record.label));
  return result;
}

inline Plains read_all(const std::string& path, const DataSettings& settings = {}) {
  return read_all(*without_left_out(open_reader(path, settings)));
}

/// The batches of rounds 0 … rounds − 1.
inline std::vector<Plains> serve(Stream& stream, Round rounds) {
  std::vector<Plains> result;
  for (Round t = 0; t < rounds; ++t) result.push_back(peek(stream.next(t)));
  return result;
}

/// Numbers of records per round.
inline std::vector<std::size_t> sizes(const std::vector<Plains>& batches) {
  std::vector<std::size_t> result;
  for (const Plains& batch : batches) result.push_back(batch.size());
  return result;
}

/// A text that must be refused, and what the message must hold.
struct Fault {
  std::string name;
  std::string text;
  std::vector<std::string> message;
  std::string label = {};
  friend std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }
};

inline void expect_all_in(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_THAT(message, ::testing::HasSubstr(part));
}

/// Each text is a DataError of `read`.
inline void expect_refused(const std::vector<Fault>& faults, const std::function<void(const std::string& text)>& read) {
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    expect_all_in(message_of<DataError>([&] { read(fault.text); }), fault.message);
  }
}

}  // namespace starling::testing_support
