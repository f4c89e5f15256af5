/// The privacy options of every command that learns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/settings.hpp"
#include "options/options.hpp"
#include "privacy/unit.hpp"

namespace starling {

struct MechanismRow;
class MetricsPolicy;
class SharedFigures;

/// Highest prices that can be asked for.
inline constexpr double most_epsilon = 1e6;
inline constexpr double most_mu = 1e3;

enum class MetricsChoice { automatic, local, shared };

struct PrivacyOptions {
  std::optional<std::string> mechanism;
  std::optional<std::string> epsilon;        ///< a number, schedule:… or clients:FILE
  std::optional<std::string> mu;             ///< likewise
  std::optional<std::string> total_epsilon;  ///< of a unit in `passes` releases; a number or clients:FILE
  std::int64_t passes = 1;
  /// Share of a record's price for histograms of its features before the first round; none: not decided yet.
  std::optional<double> feature_share;
  /// Share of a record's price for sums of scores after the last round, off which all else is taken; none: 0, unless a
  /// rule chooses it.
  std::optional<double> score_share;
  /// The prices of released histograms whose results the options have (HistogramPrices::text); none without such
  /// results.
  std::optional<std::string> histogram_price;
  bool adds_plainly = true;  ///< Laplace parts of a total add up to it at any δ: releases of another kind share it
  std::optional<double> delta;
  std::optional<double> clip;
  PrivacyUnit unit = PrivacyUnit::record;
  bool person_mean = true;      ///< a person's gradient is the mean of its records', not their sum
  bool persons_shared = false;  ///< a person may have records at several clients
  std::string noise_key = "random";
  MetricsChoice metrics = MetricsChoice::automatic;
  std::optional<std::string> budget;  ///< a number or clients:FILE
  bool budget_of_client = true;
  std::optional<std::string> ledger;
  std::optional<Round> ledger_block;
  bool audit = false;
  bool trusts_pairs = false;                ///< clients hide each other by noise that they share in pairs
  Client collusion = 1;                     ///< K: clients that may pool what they know, beside the outsiders
  std::optional<std::string> pairs_choice;  ///< `all`, `neighbours` or a file of pairs; none: by the number of clients

  /// The row of the mechanism. There must be one. Throws UsageError for an unknown name.
  [[nodiscard]] const MechanismRow& mechanism_row() const;
  [[nodiscard]] bool protects() const;
  /// Whether prices change over the rounds.
  [[nodiscard]] bool prices_change() const { return has_price_by("schedule:"); }
  /// Whether clients have prices of their own.
  [[nodiscard]] bool prices_differ() const { return has_price_by("clients:"); }
  /// Whether a price begins so.
  [[nodiscard]] bool has_price_by(std::string_view form) const;
};

/// Adds --mechanism, --epsilon, … to `options`; `privacy` must outlive it.
void add_privacy_options(Options& options, PrivacyOptions& privacy);

/// The options about persons that a command has.
enum class PersonChoices {
  mean,  ///< the column alone: a person's part is the mean of the parts of the person's records
  all,   ///< --person-gradient too, --person-rounds for pipes, and --persons-shared
};

/// Adds the privacy options, `--unit person` and its options included; `data` receives --person.
void add_privacy_options(Options& options, PrivacyOptions& privacy, DataSettings& data, PersonChoices choices);

/// Adds --trust local|pairs and its options, for commands whose clients may hide each other. `of_command` are further
/// options beside which pairs would not cancel.
void add_pair_options(Options& options, PrivacyOptions& privacy, const std::vector<Relation>& of_command);
/// The relations of `--trust pairs`, and its options: for commands with other values of --trust. `beside` is what their
/// examples need besides.
[[nodiscard]] std::vector<Relation> relations_of_pairs(const std::vector<Relation>& of_command);
void add_pair_choices(Options& options, PrivacyOptions& privacy, const std::string& beside = "");

/// Whether clients that do not share noise in pairs might, as far as prices and mechanism go.
[[nodiscard]] bool may_share_noise(const PrivacyOptions& privacy);

/// Throws UsageError for options that contradict each other or have no meaning for the mechanism.
void check_privacy_options(const PrivacyOptions& privacy);
/// Throws UsageError unless a mechanism is chosen and, if it protects, a price.
void require_protection(const PrivacyOptions& privacy);

/// Whether numbers computed from records harm nobody if they are shown: records are public, nobody is protected, or the
/// noise follows from --seed.
[[nodiscard]] bool harms_nobody(const PrivacyOptions& privacy, bool public_data);

/// Where numbers computed from records may be shown: everywhere if that harms nobody, or if the user says so.
[[nodiscard]] MetricsPolicy metrics_policy_of(const PrivacyOptions& privacy, bool public_data,
                                              SharedFigures* log = nullptr);

/// Values of --mechanism, and of --epsilon and --mu, for help.
[[nodiscard]] OptionValues mechanism_values();
[[nodiscard]] OptionValues price_values();

}  // namespace starling
