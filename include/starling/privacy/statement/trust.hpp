/// Whom the clients of a run trust with what, and what a reader must know of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/privacy/accounting/accounting.hpp"
#include "starling/privacy/mechanism/paper_perturbation.hpp"

namespace starling {

/// Who sees numbers without noise.
enum class TrustModel {
  none,       ///< whoever gets a message: nothing is protected
  local,      ///< nobody: each client adds noise before it sends
  central,    ///< who operates the aggregator, rank 0
  curvature,  ///< of noisy gradients nobody; un-noised sums of curvatures, at the end, who operates rank 0
  masked,     ///< nobody; who knows some clients' noise, as rank 0 does that of its own, sees less noise
  paper,      ///< who operates the aggregator; its noise is what a paper says
};

/// "none", "local", "central", "central-curvature", "masked" or "paper".
[[nodiscard]] const char* name_of(TrustModel model);

/// What a record pays if clients take their own noise off the sum.
struct Collusion {
  std::int64_t clients = 0;
  PrivacyLoss record;
};

/// What the paper of PaperPerturbation claims, and what becomes of it.
struct PaperClaim {
  double epsilon = 0;  ///< of one release, at `delta`
  double delta = 0;
  double c1 = 0;
  double c2 = 0;
  double cp = 0;
  bool laplace = false;
  std::int64_t releases = 0;
  std::int64_t unmet = 0;  ///< releases for which its condition 2 fails
  /// A record of the first batch is in the curvature of every later model, so it enters all releases. If the claim held
  /// for it in each of them, they would come to `composed` together: at δ twice the sum of the claims' own (0 under
  /// Laplace noise); infinite where that δ says nothing.
  PrivacyLoss composed;
  /// The same from the scale of the Gaussian noise itself and the determinants' T₂, at `delta`: less, since the claim
  /// loses by the way in which it is derived. None under Laplace noise.
  std::optional<double> epsilon_by_noise;
};

/// Of vertical learning: parties that hold columns of the same records, and rank 0 (client 0) as their fusion centre
/// (method 5).
struct VerticalTrust {
  bool labels_known_to_all = false;  ///< else client 0 alone knows them, and its releases protect them
  std::int64_t parties = 1;          ///< K: clients 1 … K
  std::int64_t local_steps = 1;      ///< E: gradients that a party's network learns from in a round
  bool baseline_central = false;     ///< parties send raw columns in place of embeddings; nothing is protected
  /// What somebody pays of whom all parties hold columns (and client 0 a label that its releases protect): filled in
  /// for the statement.
  PrivacyLoss in_all_parties = {};
  /// Clients whose releases are computed from data of their own: the parties, and client 0 where labels are not known
  /// to all.
  [[nodiscard]] std::int64_t holders() const { return parties + (labels_known_to_all ? 0 : 1); }
};

struct Trust {
  TrustModel model = TrustModel::local;
  bool aggregated = false;                ///< rank 0 combines what clients send; else they mix with their neighbours
  bool sends_models = false;              ///< and what they send are models that they have made of their releases
  std::vector<Collusion> collusion;       ///< under `masked`: of 0, 1 and half of the clients, and of those of rank 0
  std::int64_t of_rank_0 = 1;             ///< clients that rank 0 hosts: its operator knows their shares of the noise
  std::string key_list;                   ///< under `masked`: fingerprint of the public keys that rank 0 received
  std::vector<std::string> keys;          ///< and of each client's
  std::optional<PaperClaim> paper;        ///< under `paper`
  std::optional<VerticalTrust> vertical;  ///< with `model` none or local
};

/// The claim for so many releases of batches that bring `records` each.
[[nodiscard]] PaperClaim paper_claim(const PaperPerturbation& mechanism, double records, std::int64_t releases);

/// What a record pays by all it entered, for 0, 1, half of `clients` and `of_rank_0` of them colluding: their noise was
/// shares of the sum's.
/// `record` is what it pays if none collude; it must have a μ.
[[nodiscard]] std::vector<Collusion> collusions(const PrivacyLoss& record, std::int64_t clients,
                                                std::int64_t of_rank_0);

/// What somebody pays of whom so many clients hold a record each, where `record` is what one of these costs: √clients ·
/// μ at the same δ; without a μ all of ε and δ so many times (basic composition).
[[nodiscard]] PrivacyLoss loss_in_clients(const PrivacyLoss& record, std::int64_t clients);

/// Who gets what the clients send: completes "… sent … to".
[[nodiscard]] std::string recipients_of(const Trust& trust);
/// Sentences for the privacy statement; empty where clients mix with their neighbours.
[[nodiscard]] std::string statement_of(const Trust& trust);

}  // namespace starling
