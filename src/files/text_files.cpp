#include "files/text_files.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "files/text.hpp"

namespace starling {

std::string read_text(const std::string& path) {
  std::optional<std::string> text = read_whole_file(path);
  check<DataError>(text.has_value(), "cannot read '{}': {}. Check that it is there and readable.", path,
                   std::strerror(errno));
  return *std::move(text);
}

std::optional<std::string> replaced_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_character_file(status) || fs::is_fifo(status)) return std::nullopt;
  check(!fs::exists(status) || fs::is_regular_file(status), "cannot write '{}': it is a {}. Name a file.", path,
        fs::is_directory(status) ? "folder" : "device or a socket");
  if (!fs::is_symlink(path, ignored)) return path;
  std::error_code problem;
  const std::string place = fs::canonical(path, problem).string();
  check(!problem, "cannot write '{}': it is a link to nothing. Name a file.", path);
  return place;
}

void require_replaceable(const std::string& path, std::string_view beginning) {
  const std::optional<std::string> place = replaced_file(path);
  if (!place) return;
  std::ifstream file(*place, std::ios::binary);
  std::string text(beginning.size(), ' ');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  check(file.gcount() == 0 || text == beginning,
        "'{}' exists, and is no such file as would replace it: it would be lost. Name another.", path);
}

void write_text(const std::string& path, const std::string& text) {
  const std::optional<std::string> place = replaced_file(path);
  if (!place) {
    const Descriptor file(path, O_WRONLY | O_NOCTTY);
    const int error = file.get() < 0 ? errno : write_all(file.get(), text);
    check<FailureError>(error == 0, "cannot write '{}': {}. Name another file.", path, std::strerror(error));
    return;
  }
  const std::string part = *place + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  const bool done = file.good() && std::rename(part.c_str(), place->c_str()) == 0;
  const int problem = errno;
  if (!done) std::remove(part.c_str());
  check<FailureError>(done, "cannot write '{}': {}. Check the folder and the disk.", path, std::strerror(problem));
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

std::vector<std::string_view> split_list_at(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    std::size_t at = text.find_first_not_of(' ');
    if (at != std::string_view::npos && text[at] == '"') {
      at = text.find('"', at + 1);
      while (at != std::string_view::npos && at + 1 < text.size() && text[at + 1] == '"') at = text.find('"', at + 2);
    } else {
      at = 0;
    }
    const std::size_t end = at == std::string_view::npos ? at : text.find_first_of(separators, at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string text_of_part(std::string_view part) {
  part = trimmed(part, " ");
  if (part.size() < 2 || !part.starts_with('"') || !part.ends_with('"')) return std::string(part);
  std::string text(part.substr(1, part.size() - 2));
  for (std::size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
  return text;
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
