/// Choices of a run about what it writes: clients that are recorded individually, averages, checkpoints.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/links.hpp"
#include "model/score.hpp"

namespace starling {

/// Largest number of clients that are all recorded individually by default.
constexpr Client most_clients_one_by_one = 2000;

/// The value of `--record-clients`.
struct RecordedChoice {
  enum class Kind { usual, one_model, first, sample, all, none } kind = Kind::usual;
  Client count = 0;  ///< K, for `first` and `sample`
  /// Reads "K", "sample:K", "all" or "none". Throws UsageError.
  [[nodiscard]] static RecordedChoice parse(const std::string& text);
};

/// The default choice where all clients have the same model.
inline constexpr RecordedChoice of_one_model{RecordedChoice::Kind::one_model};

/// The clients whose figures are kept individually: mass, presence, progressive scores, traffic of edges. With
/// `of_some`, the spread over all clients of a rank is kept too.
enum class Figures { of_all, of_some };

struct Recorded {
  std::vector<Client> clients = {};  ///< clients whose models are recorded at recorded rounds, ascending
  Figures figures = Figures::of_all;
  std::vector<Client> listed = {};  ///< clients whose figures are kept individually if `of_some`, ascending
  bool final_models = true;         ///< whether the final models of all clients are written

  /// Adds clients `before` to `clients` − 1, which join, wherever all clients before are.
  void add_joined(Client before, Client clients);
};

/// The recorded clients of a run whose models have `dimension` numbers each. The choice `usual` takes all of up to 100
/// clients. Of more clients it takes ten, spread evenly: fewer models if ten have more than a million numbers together,
/// but ten clients' figures. Any other choice holds for models and figures alike.
[[nodiscard]] Recorded who_is_recorded(Client clients, const RecordedChoice& choice, std::size_t dimension);

/// `none`: nothing is learned. `losses`: labels are numbers. `losses_and_accuracies`: labels are classes.
enum class Scores { none, losses, losses_and_accuracies };
/// The task: "averaging", "regression" or "classification".
[[nodiscard]] const char* name_of(Scores scores);

/// Score of a model on the public test set.
using TestScore = std::function<Score(View)>;

/// Number of models: one for each client, or the aggregator's one for all.
enum class Models { one_each, one_for_all };

/// Figures of a record whose spread over clients is kept.
constexpr std::size_t spread_figures = 5;

/// Data sets of progressive scores, with what they mean.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> score_sets(Scores scores, Figures figures);

/// The rounds that an average covers (`--average`).
enum class Averaging {
  none,  ///< the models of the last round
  tail,  ///< the mean over the second half of the planned rounds (Rakhlin, Shamir and Sridharan 2012)
  all,   ///< over all rounds
};
[[nodiscard]] const char* name_of(Averaging averaging);

/// The interval of checkpoints, in rounds or seconds. With neither, one is written when a signal stops the run.
struct CheckpointPace {
  Round rounds = 0;
  double seconds = 0;
  [[nodiscard]] bool any() const { return rounds > 0 || seconds > 0; }
};

}  // namespace starling
