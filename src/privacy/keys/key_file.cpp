#include "privacy/keys/key_file.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sys/stat.h>

#include "core/check.hpp"

namespace starling {

namespace {

using KeyBytes = std::span<const unsigned char, 32>;

constexpr std::size_t fewest_bytes = 13;
constexpr std::size_t fewest_digits = 9;
constexpr int most_of_one_byte = 9;
constexpr std::size_t longest_period = 16;
constexpr mode_t of_others = S_IRWXG | S_IRWXO;

bool is_printable(KeyBytes key) {
  return std::all_of(key.begin(), key.end(), [](unsigned char byte) { return byte >= 0x20 && byte <= 0x7e; });
}

bool has_few_bytes(KeyBytes key) {
  return std::set<unsigned char>(key.begin(), key.end()).size() < fewest_bytes;
}

bool has_few_digits(KeyBytes key) {
  std::set<int> digits;
  for (const unsigned char byte : key) digits.insert({byte >> 4, byte & 15});
  return digits.size() < fewest_digits;
}

bool has_one_byte_often(KeyBytes key) {
  std::array<int, 256> counts{};
  for (const unsigned char byte : key) ++counts[byte];
  return *std::max_element(counts.begin(), counts.end()) > most_of_one_byte;
}

bool repeats(KeyBytes key) {
  for (std::size_t period = 1; period <= longest_period; ++period) {
    if (std::equal(key.begin() + static_cast<std::ptrdiff_t>(period), key.end(), key.begin())) return true;
  }
  return false;
}

bool has_fixed_step(KeyBytes key) {
  const auto step = static_cast<unsigned char>(key[1] - key[0]);
  for (std::size_t i = 2; i < key.size(); ++i) {
    if (static_cast<unsigned char>(key[i] - key[i - 1]) != step) return false;
  }
  return true;
}

void check_permissions(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;  // reading says why
  check((status.st_mode & of_others) == 0,
        "noise key file '{}' is open to others (mode {:04o}): whoever reads it can take the noise off. Take their "
        "permissions away: chmod 600 '{}', on a file system that keeps permissions.",
        path, status.st_mode & 07777U, path);
}

}  // namespace

std::string weakness_of(KeyBytes key) {
  if (repeats(key)) return "its bytes repeat";
  if (has_fixed_step(key)) return "its bytes ascend or descend by a fixed step";
  if (is_printable(key)) return "it is text";
  if (has_few_digits(key)) return "it has few different hexadecimal digits";
  if (has_few_bytes(key)) return "it has few different bytes";
  if (has_one_byte_often(key)) return "one byte stands in it ten times or more";
  return "";
}

NoiseKey read_owners_key(const std::string& path) {
  check_permissions(path);
  NoiseKey key = NoiseKey::read(path);
  const std::string weakness = weakness_of(key.bytes());
  check(weakness.empty(),
        "noise key file '{}' holds a key that can be guessed: {}; no random key looks so. Make one with 'openssl rand "
        "-hex 32'",
        path, weakness);
  return key;
}

}  // namespace starling
