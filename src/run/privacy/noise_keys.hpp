/// `--noise-key`: where the clients' noise keys come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/agreement.hpp"
#include "privacy/keys/keys.hpp"
#include "privacy/statement/terms.hpp"

namespace starling {

/// "random", "seed", or a file name that contains `{client}`.
[[nodiscard]] NoiseKeyPolicy noise_key_policy(const std::string& option);

/// Keys of clients first … first + count − 1. Throws UsageError for files that cannot be read or do not name the
/// client, that others may read, or whose key can be guessed (privacy/keys/key_file.hpp).
[[nodiscard]] std::vector<NoiseKey> make_noise_keys(const std::string& option, std::uint64_t seed, Client first,
                                                    Client count);

/// **Collective.** Throws UsageError naming a client whose key another has too: equal keys give equal noise on equal
/// data, and their difference would be bare. Compares commitments (112 bits of them), not keys: 28 bytes a client, on
/// every rank.
void refuse_equal_keys(Agreement& agreement, const std::vector<NoiseKey>& keys, const std::string& run_id);

/// Writes keys that the operating system gave to `folder`/key-<client>, or those of more than 2,000 clients to
/// `folder`/keys, a line each; readable by their owner alone.
void store_noise_keys(const std::vector<NoiseKey>& keys, Client first, const std::string& folder);

/// Whether store_noise_keys has written keys there.
[[nodiscard]] bool has_stored_keys(Client first, const std::string& folder);

/// The keys that store_noise_keys has written. Throws UsageError.
[[nodiscard]] std::vector<NoiseKey> read_stored_keys(Client first, Client count, const std::string& folder);

/// **Collective.** 32 hexadecimal digits: random, but the same for the same seed where noise is derived from it.
[[nodiscard]] std::string make_run_id(Agreement& agreement, NoiseKeyPolicy policy, std::uint64_t seed);

}  // namespace starling
