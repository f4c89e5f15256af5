// Pairs of files, features and labels: IDX, plain and gzipped, text, and what content tells. The first byte of an input
// chooses how it is read, the second says how many bytes at its end are the file of labels.
#include <algorithm>
#include <array>
#include <string>

#include <zlib.h>

#include "records.hpp"
#include "target.hpp"

namespace {

using namespace starling;

std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  constexpr int gzip_format = 15 + 16;
  constexpr int memory = 8;
  const bool begun = deflateInit2(&stream, 1, Z_DEFLATED, gzip_format, memory, Z_DEFAULT_STRATEGY) == Z_OK;
  fuzz::require(begun, "deflateInit2 failed");
  std::string result(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  fuzz::require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate failed");
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

constexpr std::array formats{"idx", "idx", "auto", "csv"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t way = fuzz::choose(bytes, formats.size());
  const std::size_t count_of_labels = fuzz::choose(bytes, std::max<std::size_t>(bytes.size(), 1));
  std::string features(bytes.substr(0, bytes.size() - count_of_labels));
  std::string labels(bytes.substr(bytes.size() - count_of_labels));
  if (way == 1) {
    features = gzipped(features);
    labels = gzipped(labels);
  }
  if (way == 2 && (fuzz::is_hdf5(features) || fuzz::is_hdf5(labels))) return -1;
  ReadSettings settings;
  settings.format = formats[way];
  const fuzz::MemoryFile feature_file(features);
  const fuzz::MemoryFile label_file(labels);
  const std::string source = feature_file.path() + "," + label_file.path();
  fuzz::answers([&] { fuzz::read_soundly(source, settings); });
  return 0;
}
