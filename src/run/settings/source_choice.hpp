/// The source of a `starling data` command.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "core/text/per_client.hpp"
#include "data/generators/synthetic.hpp"
#include "data/source.hpp"
#include "options/options.hpp"

namespace starling {

/// A source as the options name it: one file or pair, one per client, or a generator.
struct SourceChoice {
  SourceChoice() { reading.source.clear(); }  // there is no default
  ReadSettings reading;
  std::optional<Client> clients;
  std::uint64_t seed = 1;
  std::int64_t batch = 1;
  std::optional<std::int64_t> records;  ///< of a generator, per client; otherwise what its spec says

  [[nodiscard]] const std::string& name() const { return reading.source; }
  [[nodiscard]] bool synthetic() const { return is_synthetic(name()); }
  [[nodiscard]] bool per_client() const { return synthetic() ? clients.has_value() : is_per_client(name()); }
  [[nodiscard]] Client parts() const { return clients.value_or(1); }
  /// Name of client u's part.
  [[nodiscard]] std::string part(Client u) const;

  /// Throws UsageError where --clients and the name do not belong together.
  void check_clients() const;
  /// The files that hold a part; none of a generator.
  [[nodiscard]] std::vector<std::string> files(Client u) const;
  [[nodiscard]] std::unique_ptr<RecordReader> open(Client u) const;
  /// Whether all files of a part can be read again; pipes cannot.
  [[nodiscard]] bool replayable(Client u) const;
};

/// SOURCE, as the word that needs no option.
void add_source_word(Options& options, SourceChoice& source);

/// --clients and --seed.
void add_client_options(Options& options, SourceChoice& source);

}  // namespace starling
