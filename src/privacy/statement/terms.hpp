/// Choices of a run that its privacy statement names.
#pragma once

namespace starling {

/// The source of the clients' noise keys. With `seed` (a public number), anybody can remove the noise.
enum class NoiseKeyPolicy { random, seed, file };

/// "random", "seed" or "file".
[[nodiscard]] const char* name_of(NoiseKeyPolicy policy);

/// The values in the second histograms of a run: norms of records, labels, all columns within their ranges, or either
/// norms or columns, where the settings of a run do not tell these apart.
enum class Counted { norms, labels, columns, norms_or_columns };

/// The messages between ranks that are encrypted and authenticated.
enum class SealedMessages { none, one_host, between_hosts, all };

/// "off", "one host", "between hosts" or "all".
[[nodiscard]] const char* name_of(SealedMessages sealed);

}  // namespace starling
