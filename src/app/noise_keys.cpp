#include "starling/app/noise_keys.hpp"

#include <filesystem>
#include <set>

#include "starling/core/digest.hpp"
#include "starling/core/per_client.hpp"
#include "starling/record/run_directory.hpp"

namespace starling {

namespace {

constexpr std::size_t commitment_length = 64;

std::string key_file(const std::string& pattern, Client client) {
  check(is_per_client(pattern),
        "--noise-key '{}' does not contain {{client}} (each client needs a key of its own) name files like "
        "key-{{client}}",
        pattern);
  return name_of_client(pattern, client);
}

std::string stored_key(const std::string& folder, Client client) {
  return fmt::format("{}/key-{}", folder, client);
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
        keys.push_back(NoiseKey::read(key_file(option, u)));
        break;
    }
  }
  return keys;
}

void refuse_equal_keys(Agreement& agreement, const std::vector<NoiseKey>& keys, const std::string& run_id) {
  std::string own;
  for (const NoiseKey& key : keys) own += key.commitment(run_id);
  const auto all = agreement.all_gather(declare_public(own));
  agreement.together([&] {
    std::set<std::string> seen;
    Client u = 0;
    for (const std::string& commitments : all) {
      for (std::size_t i = 0; i + commitment_length <= commitments.size(); i += commitment_length, ++u) {
        check(seen.insert(commitments.substr(i, commitment_length)).second,
              "client {} has the same noise key as another (their noises would cancel) give each client its own key",
              u);
      }
    }
  });
}

void store_noise_keys(const std::vector<NoiseKey>& keys, Client first, const std::string& folder) {
  for (std::size_t k = 0; k < keys.size(); ++k) {
    OwnersFile::replace(stored_key(folder, first + static_cast<Client>(k)), Secret<std::string>(keys[k].hex() + "\n"));
  }
}

std::vector<NoiseKey> read_stored_keys(Client first, Client count, const std::string& folder) {
  std::vector<NoiseKey> keys;
  for (Client u = first; u < first + count; ++u) {
    const std::string file = stored_key(folder, u);
    check<DataError>(std::filesystem::exists(file),
                     "noise key file '{}' is not there (the run has no other key) bring it back", file);
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
