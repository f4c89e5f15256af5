#include "text_files.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "starling/core/check.hpp"

namespace starling {

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  // An empty file sets the failbit of `text`, a folder its badbit.
  check<DataError>(file.is_open() && !text.bad(), "cannot read '{}' ({}) check that it is there and readable", path,
                   std::strerror(errno));
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  const bool done = file.good() && std::rename(part.c_str(), path.c_str()) == 0;
  const int problem = errno;
  if (!done) std::remove(part.c_str());
  check<FailureError>(done, "cannot write '{}' ({}) check the folder and the disk", path, std::strerror(problem));
}

std::string csv_field(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.10g}", value);
}

}  // namespace starling
