#include "noise_keys.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>

#include "core/digest.hpp"
#include "core/memory/wipe.hpp"
#include "core/text/per_client.hpp"
#include "output/directory/owners_file.hpp"
#include "output/directory/run_directory.hpp"
#include "privacy/keys/key_file.hpp"

namespace starling {

namespace {

/// Hexadecimal digits of a commitment that are compared: 112 bits, of which two among 10^8 keys agree by chance with
/// probability 10^-18.
constexpr std::size_t digits_compared = 28;
/// As many keys as a rank's folder has files of their own for.
constexpr std::size_t most_key_files = 2000;
constexpr std::size_t digits_of_key = 64;

std::string key_file(const std::string& pattern, Client client) {
  check(is_per_client(pattern),
        "--noise-key '{}' does not contain {{client}}: each client needs a key of its own. Name files like "
        "key-{{client}}",
        pattern);
  return name_of_client(pattern, client);
}

std::string stored_key(const std::string& folder, Client client) {
  return fmt::format("{}/key-{}", folder, client);
}

/// One file for the keys of more clients than that, in their order.
std::string stored_keys(const std::string& folder) {
  return folder + "/keys";
}

/// Wiped when it goes.
template <class Array>
struct Wiped {
  Array value{};
  ~Wiped() { wipe(value); }
};

/// Lines of keys for a file; wiped when they go.
class KeyLines {
 public:
  explicit KeyLines(std::size_t keys) {
    text_.update([&](std::string& text) { text.reserve(keys * (digits_of_key + 1)); });
  }
  ~KeyLines() {
    text_.update([](std::string& text) { wipe(text); });
  }
  KeyLines(const KeyLines&) = delete;
  KeyLines& operator=(const KeyLines&) = delete;

  void add(const NoiseKey& key) {
    std::string digits = key.hex();
    text_.update([&](std::string& text) { text.append(digits).append("\n"); });
    wipe(digits);
  }
  [[nodiscard]] const Secret<std::string>& text() const { return text_; }

 private:
  Secret<std::string> text_;
};

/// A key whose line store_noise_keys has written.
NoiseKey key_of(std::string_view line, const std::string& file) {
  Wiped<NoiseKey::Bytes> bytes;
  const bool right = line[digits_of_key] == '\n' && from_hex(line.substr(0, digits_of_key), bytes.value);
  check<DataError>(right,
                   "noise key file '{}' holds a line that is no key of {} hexadecimal digits: it was changed. Bring "
                   "the file of the run back.",
                   file, digits_of_key);
  return NoiseKey(bytes.value);
}

std::vector<NoiseKey> read_keys(const std::string& file, Client count) {
  check<DataError>(std::filesystem::exists(file),
                   "noise key file '{}' is not there: the run has no other keys. Bring it back.", file);
  std::ifstream input;
  input.rdbuf()->pubsetbuf(nullptr, 0);  // no copy of keys in a buffer that nobody wipes
  input.open(file, std::ios::binary);
  std::vector<NoiseKey> keys;
  keys.reserve(static_cast<std::size_t>(count));
  Wiped<std::array<char, digits_of_key + 1>> line;
  while (input.read(line.value.data(), line.value.size()) && static_cast<Client>(keys.size()) < count) {
    keys.push_back(key_of({line.value.data(), line.value.size()}, file));
  }
  check<DataError>(static_cast<Client>(keys.size()) == count && input.gcount() == 0,
                   "noise key file '{}' does not hold {} keys: it cannot be read, was cut, or is of another run. Bring "
                   "the file of the run back.",
                   file, count);
  return keys;
}

struct Commitment {
  std::array<char, digits_compared> digits;
  Client client;
};

/// The first client whose commitment somebody before it has too.
std::optional<Client> first_repeated(std::vector<Commitment> all) {
  std::ranges::sort(all, [](const Commitment& a, const Commitment& b) {
    return std::tie(a.digits, a.client) < std::tie(b.digits, b.client);
  });
  std::optional<Client> first;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].digits == all[i - 1].digits) first = std::min(first.value_or(all[i].client), all[i].client);
  }
  return first;
}

}  // namespace

NoiseKeyPolicy noise_key_policy(const std::string& option) {
  if (option == "random") return NoiseKeyPolicy::random;
  return option == "seed" ? NoiseKeyPolicy::seed : NoiseKeyPolicy::file;
}

std::vector<NoiseKey> make_noise_keys(const std::string& option, std::uint64_t seed, Client first, Client count) {
  std::vector<NoiseKey> keys;
  keys.reserve(static_cast<std::size_t>(count));
  for (Client u = first; u < first + count; ++u) {
    switch (noise_key_policy(option)) {
      case NoiseKeyPolicy::random:
        keys.push_back(NoiseKey::random());
        break;
      case NoiseKeyPolicy::seed:
        keys.push_back(NoiseKey::from_seed(seed, u));
        break;
      case NoiseKeyPolicy::file:
        keys.push_back(read_owners_key(key_file(option, u)));
        break;
    }
  }
  return keys;
}

void refuse_equal_keys(Agreement& agreement, const std::vector<NoiseKey>& keys, const std::string& run_id) {
  std::string own;
  own.reserve(keys.size() * digits_compared);
  for (const NoiseKey& key : keys) own += key.commitment(run_id).substr(0, digits_compared);
  const auto of_ranks = agreement.all_gather(declare_public(own));
  agreement.together([&] {
    std::vector<Commitment> all;
    for (const std::string& commitments : of_ranks) {
      all.reserve(all.size() + commitments.size() / digits_compared);
      for (std::size_t i = 0; i + digits_compared <= commitments.size(); i += digits_compared) {
        Commitment& each = all.emplace_back(Commitment{{}, static_cast<Client>(all.size())});
        std::copy_n(commitments.begin() + static_cast<std::ptrdiff_t>(i), digits_compared, each.digits.begin());
      }
    }
    const std::optional<Client> repeated = first_repeated(std::move(all));
    check(!repeated,
          "client {} has the same noise key as another: their noises would cancel. Give each client its own key.",
          repeated.value_or(0));
  });
}

void store_noise_keys(const std::vector<NoiseKey>& keys, Client first, const std::string& folder) {
  if (keys.size() > most_key_files) {
    KeyLines lines(keys.size());
    for (const NoiseKey& key : keys) lines.add(key);
    OwnersFile::replace(stored_keys(folder), lines.text());
    return;
  }
  for (std::size_t k = 0; k < keys.size(); ++k) {
    KeyLines line(1);
    line.add(keys[k]);
    OwnersFile::replace(stored_key(folder, first + static_cast<Client>(k)), line.text());
  }
}

bool has_stored_keys(Client first, const std::string& folder) {
  return std::filesystem::exists(stored_key(folder, first)) || std::filesystem::exists(stored_keys(folder));
}

std::vector<NoiseKey> read_stored_keys(Client first, Client count, const std::string& folder) {
  if (static_cast<std::size_t>(count) > most_key_files) return read_keys(stored_keys(folder), count);
  std::vector<NoiseKey> keys;
  keys.reserve(static_cast<std::size_t>(count));
  for (Client u = first; u < first + count; ++u) {
    const std::string file = stored_key(folder, u);
    check<DataError>(std::filesystem::exists(file),
                     "noise key file '{}' is not there: the run has no other key. Bring it back.", file);
    keys.push_back(NoiseKey::read(file));
  }
  return keys;
}

std::string make_run_id(Agreement& agreement, NoiseKeyPolicy policy, std::uint64_t seed) {
  const std::string own =
      policy == NoiseKeyPolicy::seed ? sha256(fmt::format("starling run {}", seed)) : NoiseKey::random().hex();
  return agreement.broadcast(declare_public(own.substr(0, 32)));
}

}  // namespace starling
