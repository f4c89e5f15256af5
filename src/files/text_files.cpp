#include "starling/files/text_files.hpp"

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

std::string csv_exact(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string csv_quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return csv_quoted(text);
}

std::optional<std::vector<std::vector<std::string>>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  bool within = false;  // within quotation marks
  bool begins = true;   // at the beginning of a row
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (begins) rows.emplace_back(1);
    begins = false;
    std::string& field = rows.back().back();
    if (within && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];  // two quotation marks stand for one
    } else if (c == '"') {
      within = !within;
    } else if (within || (c != ',' && c != '\n')) {
      field += c;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else {
      begins = true;
    }
  }
  if (within) return std::nullopt;
  return rows;
}

}  // namespace starling
