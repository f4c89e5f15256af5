#include "readers.hpp"

namespace starling {

std::unique_ptr<RecordReader> open_live_reader(const std::string& path, const ReadSettings& settings) {
  return settings.format == "svmlight" ? open_svmlight(path, settings) : open_csv(path, settings);
}

}  // namespace starling
