/// The trust model of a run, and its part of the privacy statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "privacy/accounting/accounting.hpp"
#include "privacy/keys/release_path.hpp"
#include "privacy/statement/terms.hpp"
#include "privacy/unit.hpp"

namespace starling {

class PaperPerturbation;

/// The loss of a record if colluding clients remove their own noise from the sum.
struct Collusion {
  std::int64_t clients = 0;
  PrivacyLoss record;
};

/// Noise between pairs of clients (privacy/pairs/pair_noise.hpp). The report's own figures hold against `colluding`
/// clients that pool what they know.
struct PairsTrust {
  std::int64_t colluding = 1;
  double ratio = 0;     ///< r, of the noise of a pair to a client's own
  double exposure = 1;  ///< h
  std::int64_t pairs = 0;
  std::int64_t least_partners = 0;  ///< of a client
  std::string digest;               ///< of the graph of pairs
  PrivacyLoss outsiders;            ///< of the unit, against those who hold no key
  PrivacyLoss all_others;           ///< against all other clients together
};

/// The claim of the paper of PaperPerturbation, and its composition.
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

/// The trust in vertical learning, and losses of a record there.
struct VerticalTrust : VerticalFacts {
  std::vector<Collusion> collusion = {};  ///< on shares: of parties that pool their noise
  /// The loss of a record whose columns all parties hold (and client 0 a label that its releases protect).
  PrivacyLoss in_all_parties = {};
};

struct Trust {
  TrustModel model = TrustModel::local;
  bool aggregated = false;           ///< rank 0 combines what clients send; else they mix with their neighbours
  bool sends_models = false;         ///< clients send models made of their releases
  std::optional<PairsTrust> pairs;   ///< under `pairs`
  std::vector<Collusion> collusion;  ///< under `masked`: of 0, 1 and half of the clients, and of those of rank 0
  std::int64_t of_rank_0 = 1;        ///< clients that rank 0 hosts: its operator knows their shares of the noise
  std::string key_list;      ///< under `masked` and `pairs`: fingerprint of the public keys that rank 0 received
  bool keys_signed = false;  ///< members who have introduced themselves have signed these keys
  SealedMessages sealed = SealedMessages::none;
  std::vector<std::string> keys;          ///< fingerprint of each client's public key
  std::optional<PaperClaim> paper;        ///< under `paper`
  std::optional<VerticalTrust> vertical;  ///< with `model` none or local
};

/// The claim for `releases` releases of batches with `records` records each.
[[nodiscard]] PaperClaim paper_claim(const PaperPerturbation& mechanism, double records, std::int64_t releases);

/// The loss of a record with 0, 1, half of `clients` and `of_rank_0` clients colluding, whose shares of the noise then
/// do not protect. `record` is the loss without collusion; it must have a μ.
[[nodiscard]] std::vector<Collusion> collusions(const PrivacyLoss& record, std::int64_t clients,
                                                std::int64_t of_rank_0);

/// The loss of a record on shares against 1, …, K of K parties that pool their shares of the noise
/// (privacy/shares/shared_gaussian.hpp). `record` is the loss against one; it must have a μ.
[[nodiscard]] std::vector<Collusion> collusions_on_shares(const PrivacyLoss& record, std::int64_t parties);

/// The loss of a person with one record at each of `clients` clients, where `record` is the loss by one of them:
/// √clients · μ at the same δ; without a μ, ε and δ times `clients` (basic composition).
[[nodiscard]] PrivacyLoss loss_in_clients(const PrivacyLoss& record, std::int64_t clients);

/// The recipients of the clients' messages, as the end of "… sent … to".
[[nodiscard]] std::string recipients_of(const Trust& trust);
/// Sentences for the privacy statement; empty where clients mix with their neighbours.
[[nodiscard]] std::string statement_of(const Trust& trust, PrivacyUnit unit = PrivacyUnit::record);

}  // namespace starling
