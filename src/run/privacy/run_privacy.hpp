/// The privacy of a run of a learning command, from its options to its report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "owners_release.hpp"
#include "privacy/charge.hpp"
#include "privacy/keys/release_path.hpp"

namespace starling {

class Accounts;
class HistogramCharges;
class Mechanism;
class MultipartMechanism;
class PairedMechanism;
class Protection;
struct Budget;
struct BudgetLeft;
struct BudgetReport;
struct LedgerReport;
struct PrivacyReport;

/// Noisy sums of scores of all clients.
struct SumsOfScores {
  Vector sums;
  double deviation = 0;      ///< of their noise
  std::int64_t records = 0;  ///< that are in them, or persons
};

/// The privacy of one run on one rank.
class RunPrivacy : public OwnersRelease {
 public:
  RunPrivacy(Agreement& agreement, const Layout& layout, const PrivacyOptions& options, RunFacts facts);
  ~RunPrivacy();

  /// Before open(): the run began earlier, with this id, and its keys and its own ledger are in the rank's private
  /// folder.
  void take_up(const std::string& run_id, const std::string& private_folder);
  /// Makes keys, opens the owner's ledgers, settles the run's id, and makes mechanism and accounts. Changes no ledger.
  /// **Collective.** Throws BudgetError if no client may release anything.
  void open();
  /// Stores keys in the rank's private folder, keeps in memory those of this run alone that are made from them, and
  /// opens the run's own ledger in that folder if there is no other. Ledgers then know of the run, and reserve its
  /// first rounds. **Collective.** Throws BudgetError if no client may release anything after what stands in its
  /// ledger.
  void move_in(const std::string& private_folder);

  [[nodiscard]] Protection& protection() { return *protection_; }
  /// The protection of a run whose clients' releases all may see: there must be a mechanism.
  [[nodiscard]] Mechanism& mechanism();
  /// The mechanism, where a round's release has two parts; else null.
  [[nodiscard]] PairedMechanism* pair();
  /// The protection, where a round's release has several parts, equally dear; else null.
  [[nodiscard]] MultipartMechanism* multipart();
  [[nodiscard]] Accounts& accounts() { return *accounts_; }
  /// The keys of this run, after move_in().
  [[nodiscard]] const std::vector<NoiseKey>& keys() const { return keys_; }
  /// The same, for one who keeps them: very many clients' need not lie here too.
  [[nodiscard]] std::vector<NoiseKey> take_keys() {
    if (facts_.histograms.scores > 0) return keys_;  // for release_scores()
    return std::move(keys_);
  }
  [[nodiscard]] const Prices& prices() const { return *prices_; }
  /// The price of client u's release in round t.
  [[nodiscard]] double price_at(Client u, Round t) const { return prices_->at(u, t); }
  /// ε of one release at the highest price, for progress; infinite where nothing is protected.
  [[nodiscard]] double epsilon_per_release() const;
  /// ε of a unit by the releases of this rank's first client so far, for progress; none before its first.
  [[nodiscard]] std::optional<double> epsilon_so_far() const;
  /// The charge of a release at the highest price, and the δ at which a Gaussian charge is stated.
  [[nodiscard]] Charge dearest_charge() const;
  [[nodiscard]] double delta_of_claims() const;
  /// The first round of which no client's ledger says that it may have been released; 0 where nothing is protected,
  /// and a round may be released as often as one likes. **Collective.**
  [[nodiscard]] Round first_unreleased();
  /// Releases before round `end` are not made, unless they were (Accounts::leave_out_releases). Returns the most that a
  /// client of this rank pays for and has not made here. `same`: the records are still the same. **Collective.**
  [[nodiscard]] std::int64_t leave_out(Round end, bool same);
  /// Releases after which the first client will have spent its budget, as far as prices and ledgers tell once it has
  /// moved in; nothing where no budget ends before the run does. **Collective.**
  [[nodiscard]] std::optional<Round> will_stop_after();
  /// Whether client first + k releases sums of scores after the last round, which its ledger has from the start.
  [[nodiscard]] bool scores(std::size_t k) const { return k < scored_.size() && scored_[k] > 0; }
  /// Releases these sums of the clients for which that holds, by keys of the run: the same sums have the same noise.
  /// **Collective.**
  [[nodiscard]] SumsOfScores release_scores(ReleasePath path, const std::vector<Secret<Counts>>& sums);
  /// Notes about the ledger and the budget.
  [[nodiscard]] std::vector<std::string> notes() const;

  /// Closes the ledgers and gathers the figures of all ranks. **Collective.**
  [[nodiscard]] PrivacyReport finish(bool stopped);

 private:
  /// Whether a rank's clients can afford a first release; none: they have nothing to release.
  enum class FirstRelease { affordable, too_dear, none };
  [[nodiscard]] bool is_lost(Client u) const;
  /// Whether all of this rank's clients are lost, so that it has no ledger.
  [[nodiscard]] bool has_no_client_left() const;
  [[nodiscard]] bool clients_changed() const { return facts_.clients_changed; }
  void count_units();
  void choose_prices();
  void make_protection();
  [[nodiscard]] std::string determination() const;
  [[nodiscard]] std::vector<NoiseKey> make_keys() const;
  [[nodiscard]] bool depends_on_rounds() const;
  /// The first words of the run's parameters in ledgers.
  [[nodiscard]] std::string price_text() const;
  /// What they say of correlated noise; empty without.
  [[nodiscard]] std::string correlation_text() const;
  /// What the price depends on under --trust pairs; empty without.
  [[nodiscard]] std::string pairs_text() const;
  void settle_scores();
  [[nodiscard]] bool affords_scores(std::size_t k) const;
  /// Whether client first + k can pay for its rounds, and before them for its sums `with_scores`.
  [[nodiscard]] bool affords_rounds(std::size_t k, bool with_scores) const;
  void reserve_scores(Ledger& ledger, const ClientRange& clients) const;
  [[nodiscard]] Charge charge_of_scores(Client u) const;
  void take_up(Ledger& ledger);
  void begin(Ledger& ledger, const ClientRange& clients);
  void start_accounts();
  void require_some_budget(FirstRelease here);
  void see_what_is_left();
  [[nodiscard]] std::string what_is_left() const;
  void require_total_within_budget(const std::optional<Round>& stop) const;
  [[nodiscard]] FirstRelease first_release() const;
  [[nodiscard]] int vectors_of_release() const;
  void choose_budgets();
  void describe_trust(PrivacyReport& report) const;
  [[nodiscard]] BudgetReport budget_report();
  [[nodiscard]] std::optional<Round> least_of_all(std::optional<Round> here);
  [[nodiscard]] std::vector<std::pair<const Ledger*, Client>> different_clients() const;
  [[nodiscard]] LedgerReport ledger_report();

  bool no_client_left_ = false;                         ///< no client of this rank releases anything more
  std::optional<std::string> earlier_;                  ///< private folder of the run that goes on
  std::unique_ptr<const HistogramCharges> histograms_;  // where there are any
  std::optional<Prices> limits_;                        // of all clients, where there is a budget
  std::vector<std::int64_t> scored_;                    // records of this rank's clients in sums of scores; empty: none
  std::int64_t most_scored_ = 0;                        // of all clients
  Round rounds_of_pass_ = 1;                            // likewise, where there are sums of scores
  std::vector<Budget> budgets_;                         // of this rank's
  std::unique_ptr<const BudgetLeft> left_;
  std::optional<std::int64_t> units_;  // of all clients
  std::unique_ptr<Protection> protection_;
  std::unique_ptr<Accounts> accounts_;
};

}  // namespace starling
