#include "learned_from.hpp"

#include <algorithm>
#include <filesystem>

#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "run_reading.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool same_content(const std::string& file, const std::string& other) {
  return fs::equivalent(file, other) ||
         (fs::file_size(file) == fs::file_size(other) && sha256_of_file(file) == sha256_of_file(other));
}

}  // namespace

std::optional<bool> learned_from(const std::string& run, const std::string& file) {
  if (!is_file(run + "/config.ini") || !is_file(file)) return std::nullopt;
  const auto values = read_configuration(run);
  const auto source = values.find("source");
  if (source == values.end()) return std::nullopt;
  const auto clients = values.find("clients");
  const Client count = is_per_client(source->second) && clients != values.end() ? std::stoi(clients->second) : 1;
  bool all_here = true;
  for (Client u = 0; u < count; ++u) {
    const std::string part = is_per_client(source->second) ? name_of_client(source->second, u) : source->second;
    if (is_file(part) && same_content(file, part)) return true;
    all_here = all_here && is_file(part);
  }
  return all_here ? std::optional(false) : std::nullopt;
}

}  // namespace starling
