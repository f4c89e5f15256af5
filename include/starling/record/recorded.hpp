/// Whom of its clients a run records, which is a question of many clients.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/links.hpp"

namespace starling {

/// As many clients as a run has figures of one by one, unless it is asked for all.
constexpr Client most_clients_one_by_one = 2000;

/// `--record-clients`.
struct RecordedChoice {
  enum class Kind { usual, one_model, first, sample, all, none } kind = Kind::usual;
  Client count = 0;  ///< of `first` and `sample`
  /// "K", "sample:K", "all" or "none". Throws UsageError.
  [[nodiscard]] static RecordedChoice parse(const std::string& text);
};

/// The usual one where all have the same model, of which one is enough.
inline constexpr RecordedChoice of_one_model{RecordedChoice::Kind::one_model};

/// Whose figures (mass, presence, progressive scores, edges of a graph) a run keeps one by one: all clients', or some
/// clients', beside how the figures of all clients of a rank are spread.
enum class Figures { of_all, of_some };

struct Recorded {
  std::vector<Client> clients = {};  ///< whose models are recorded along the way, ascending
  Figures figures = Figures::of_all;
  std::vector<Client> listed = {};  ///< whose figures are kept one by one if they are `of_some`, ascending
  bool final_models = true;         ///< whether all clients' models are written at the end
};

/// Of so many clients whose models have `dimension` numbers each. `usual` is all up to 100 clients, else ten, fewer
/// where these would be more than a million numbers together, spread evenly; figures are those of ten. Where clients
/// are named, models and figures are theirs.
[[nodiscard]] Recorded who_is_recorded(Client clients, const RecordedChoice& choice, std::size_t dimension);

}  // namespace starling
