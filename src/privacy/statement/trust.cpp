#include "privacy/statement/trust.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "privacy/accounting/in_words.hpp"
#include "privacy/mechanism/paper_perturbation.hpp"
#include "privacy/shares/shared_gaussian.hpp"

namespace starling {

namespace {

/// Claims of all releases together, composed as for any mechanisms that cost (ε, δ).
PrivacyLoss composed_claims(const PaperClaim& claim) {
  const Charge each = claim.laplace ? Charge::pure(claim.epsilon) : Charge::approximate(claim.epsilon, claim.delta);
  const double delta = claim.laplace ? 0 : 2 * claim.delta * static_cast<double>(claim.releases);
  if (delta < 0.5) return compose(std::vector<ChargeGroup>{{each, claim.releases}}, delta);
  PrivacyLoss loss;
  loss.epsilon = infinity;
  loss.delta = 1;
  loss.method = "none";
  return loss;
}

/// Σ T₂ over the releases, and the number of releases that fail the paper's condition 2.
double sum_determinants(const PaperPerturbation& mechanism, double records, PaperClaim& claim) {
  double total = 0;
  for (std::int64_t b = 1; b <= claim.releases; ++b) {
    const double now = records * static_cast<double>(b);
    total += mechanism.determinant_term(now);
    claim.unmet += mechanism.condition_2(now) ? 0 : 1;
  }
  return total;
}

std::string of_paper(const PaperClaim& claim) {
  const std::string each =
      fmt::format("epsilon = {}{}", upper(claim.epsilon), claim.laplace ? "" : " with delta = " + upper(claim.delta));
  std::string text = fmt::format(
      "The paper claims {} for the model of each batch. That is no bound on what this run discloses. Its theorem "
      "speaks of one release and of the records of the batch at hand, while a record stays in the curvature behind "
      "every later model; were the claim true of each of the {} release(s) that a record of the first batch enters, "
      "they would come to epsilon = {}{} together",
      each, claim.releases, upper(claim.composed.epsilon),
      claim.composed.delta > 0 && std::isfinite(claim.composed.epsilon) ? " with delta = " + upper(claim.composed.delta)
                                                                        : "");
  if (claim.epsilon_by_noise) {
    text += fmt::format(", or by the scale of its noise to epsilon = {} with delta = {}",
                        upper(*claim.epsilon_by_noise), upper(claim.delta));
  }
  text += fmt::format(
      ". It assumes rows with an L1 norm of at most C1 = {:g} and an L2 norm of at most C2 = {:g}, which nothing "
      "enforces, and that the model moves by C_(p-1)/sqrt(N_(b-1)) with C_(p-1) = {:g}, which no data set need keep "
      "to. ",
      claim.c1, claim.c2, claim.cp);
  if (claim.unmet > 0) {
    text += fmt::format("Its condition 2 does not hold for {} of the release(s). ", claim.unmet);
  }
  return text;
}

bool are_open(SealedMessages sealed) {
  return sealed == SealedMessages::none || sealed == SealedMessages::one_host;
}

std::string of_masks(const Trust& trust) {
  std::string text =
      std::string(
          trust.keys_signed
              ? "Rank 0 relays the clients' public keys, which their owners signed: a key of its own in place "
                "of one of them would have ended the run. A client that goes missing "
              : "Rank 0 relays the clients' public keys and could read single clients' shares, which have only "
                "a part of the noise, if it gave out keys of its own: where it is not trusted to relay, compare "
                "by another way the fingerprint of all keys that each client received, in "
                "private/<rank>/mask-keys. A client that goes missing ") +
      "makes the round fail. Whoever knows the noise of some clients can take it off the sum: each client its own, "
      "whoever operates rank 0 that of the client(s) which rank 0 hosts (here " +
      std::to_string(trust.of_rank_0) +
      "), clients who collude theirs. The figures above are for those who know none of it; ";
  for (std::size_t i = 0; i < trust.collusion.size(); ++i) {
    const Collusion& each = trust.collusion[i];
    text += fmt::format(
        "{}against who knows that of {} client(s) a record pays at most mu = {} (epsilon = {} with delta = {})",
        i == 0 ? "" : "; ", each.clients, upper(each.record.mu.value_or(infinity)), upper(each.record.epsilon),
        upper(each.record.delta));
  }
  return text + ". ";
}

std::string of_pairs(const PairsTrust& pairs, bool keys_signed) {
  return fmt::format(
      "All figures above hold against everybody outside together with any {} client(s) that pool their keys and all "
      "that they see: each of the {} pairs of clients shares noise, so that each client is hidden among at least "
      "{:.4g}. Against those who hold no client's key the unit pays at most {}, and against all other clients "
      "together, where its own noise alone hides it, at most {}. Public keys are relayed by rank 0{} ",
      pairs.colluding, pairs.pairs, 1 / pairs.exposure, in_words(pairs.outsiders), in_words(pairs.all_others),
      keys_signed
          ? ", signed by the clients' owners: a key of its own in place of one of them would have ended the run."
          : ". If it gave out keys of its own, it would stand for all other clients: where that matters, compare "
            "by another way the fingerprint of all keys that each client received, in "
            "private/<rank>/pair-keys, and of the pairs of histograms in the files pair-keys-of-* beside it.");
}

std::string recipients_of_parties(const VerticalTrust& vertical, bool noise) {
  const char* how = noise ? "with noise" : "without noise";
  if (vertical.on_shares) {
    return fmt::format(
        "the other parties as additive shares, which are uniform words to each of them; sums over all "
        "records, {}, are opened to the party whose columns they are of{}",
        how, noise ? "; whoever reads the run directory gets the parties' models besides" : "");
  }
  if (vertical.baseline_central) return "whoever operates rank 0, without noise";
  if (vertical.labels_known_to_all) {
    return fmt::format(
        "rank 0 and, through it, every other party, {}; every party gets the head that rank 0 makes of them as well{}",
        how, noise ? "; whoever reads the run directory gets the parties' networks besides" : "");
  }
  return fmt::format("rank 0, {0}, which sends each party the derivatives of the loss by its embeddings, {0}{1}", how,
                     noise ? "; whoever reads the run directory gets the parties' networks besides" : "");
}

/// What is known of the ids.
std::string which_take_part(const VerticalTrust& vertical) {
  return vertical.matched_in_private
             ? "which records take part: each party learns which of its own records all parties have; ids were "
               "compared blinded, so that nobody saw another's"
             : "which records take part (parties match the ids of their records before the run)";
}

/// Statement on learning on shares.
std::string of_shares(const VerticalTrust& vertical, PrivacyUnit unit, bool keys_signed) {
  std::string text =
      "All parties and rank 0, the dealer, must follow the protocol: it protects from those who look, not from those "
      "who send other words than they should. If the dealer and a party pool what they have, the columns of all "
      "parties are open to them. ";
  text += keys_signed ? "Rank 0 relays the public keys, which their owners signed. "
                      : "Rank 0 relays the public keys, and could read the words of parties if it gave out keys of its "
                        "own: compare by another way the fingerprints in private/<rank>/share-keys. ";
  if (!vertical.collusion.empty()) {
    text += unit == PrivacyUnit::person
                ? fmt::format(
                      "The person who is protected is protected as a whole: the columns of all parties of all "
                      "the person's records, of which {} take part, and their labels. ",
                      vertical.person_rows)
                : "The record that is protected is all of it: the columns of all parties, and the label. ";
    text += "The figures hold against each party, and against the dealer";
    for (const Collusion& each : vertical.collusion) {
      if (each.clients < 2) continue;
      text += fmt::format(
          "; against {} parties that pool what they know a {} pays at most mu = {} (epsilon = {} "
          "with delta = {})",
          each.clients, summand_of(unit), upper(each.record.mu.value_or(infinity)), upper(each.record.epsilon),
          upper(each.record.delta));
    }
    text += ". ";
  } else {
    text += "Without noise the sums themselves say something of single records. ";
  }
  text += "Not covered: " + which_take_part(vertical);
  if (unit == PrivacyUnit::person) text += ", and how many of them are of one person, which all clients know";
  return text + ". ";
}

/// Statement on vertical learning without protection.
std::string of_bare_parties(const VerticalTrust& vertical, SealedMessages sealed) {
  if (vertical.baseline_central) {
    return "This is the baseline of central learning: whoever operates rank 0, or reads its memory or the messages to "
           "it" +
           std::string(are_open(sealed) ? ", which are not encrypted," : " within its host") +
           " has the parties' columns as they are. ";
  }
  std::string text = fmt::format(
      "Embeddings are functions of raw columns that nothing protects: whoever gets them, rank 0{}, may invert them and "
      "come to know the columns, in part or in whole. The paper of this method has no protection either. ",
      vertical.labels_known_to_all ? " and every other party" : "");
  text += vertical.labels_known_to_all
              ? "Labels are known to all clients. "
              : "Labels do not stay with rank 0: the derivatives that it sends back tell them to the parties, and of a "
                "label with two values the sign of a record's derivative is the label. ";
  return text;
}

std::string of_parties(const VerticalTrust& vertical, PrivacyUnit unit) {
  std::string text = fmt::format(
      "What a party sends are the embeddings of its records, with noise, and nothing else. Its network learns from "
      "gradients with noise alone, which all later embeddings and the network in the run directory are made of: they "
      "are charged to the same "
      "records, the {} local step(s) of a round each as a release of its own beside that of the embeddings. ",
      vertical.local_steps);
  text += unit == PrivacyUnit::person
              ? fmt::format(
                    "The person who is protected is what one party has of the person: its columns of all the "
                    "person's records, of which {} take part. A person has as many rows in each round, with a "
                    "record or without. ",
                    vertical.person_rows)
              : "The record that is protected is what one party has of it: its columns. ";
  if (vertical.holders() > 1) {
    text += fmt::format("Somebody whose data stand in the columns of all {} parties{} pays by all of them at most {}. ",
                        vertical.parties, vertical.labels_known_to_all ? "" : " and in the labels",
                        in_words(vertical.in_all_parties));
  }
  text +=
      vertical.labels_known_to_all
          ? "Labels are known to all clients and NOT covered by any figure. "
          : std::string("Labels are known to rank 0") +
                (vertical.matched_in_private ? " and the party that handed them over, and to nobody else" : " alone") +
                ": the derivatives of the loss by the embeddings, which it sends, and "
                "the gradients that its head learns from have noise, and are charged to the record's label as a "
                "party's releases are to its columns. ";
  text += fmt::format("Not covered either: {}. ", which_take_part(vertical));
  return unit == PrivacyUnit::person ? text + "All parties know which records are of one person. " : text;
}

}  // namespace

const char* name_of(SealedMessages sealed) {
  switch (sealed) {
    case SealedMessages::none:
      return "off";
    case SealedMessages::one_host:
      return "one host";
    case SealedMessages::between_hosts:
      return "between hosts";
    case SealedMessages::all:
      break;
  }
  return "all";
}

const char* name_of(TrustModel model) {
  switch (model) {
    case TrustModel::none:
      return "none";
    case TrustModel::local:
      return "local";
    case TrustModel::pairs:
      return "pairs";
    case TrustModel::central:
      return "central";
    case TrustModel::curvature:
      return "central-curvature";
    case TrustModel::masked:
      return "masked";
    case TrustModel::paper:
      return "paper";
  }
  return "unknown";
}

PaperClaim paper_claim(const PaperPerturbation& mechanism, double records, std::int64_t releases) {
  const PaperTerms& terms = mechanism.terms();
  PaperClaim claim;
  claim.laplace = terms.noise == PaperTerms::Noise::laplace;
  claim.epsilon = terms.epsilon;
  claim.delta = claim.laplace ? 0 : terms.delta;
  claim.c1 = terms.c1;
  claim.c2 = terms.c2;
  claim.cp = terms.cp;
  claim.releases = releases;
  claim.composed = composed_claims(claim);
  const double determinants = sum_determinants(mechanism, records, claim);
  if (!claim.laplace && releases > 0) {
    const double twice_log = 2 * std::log(1 / terms.delta);
    const double mu = terms.epsilon / (std::sqrt(twice_log) + std::sqrt(twice_log + terms.epsilon));  // Δ1/τ
    claim.epsilon_by_noise =
        gaussian_epsilon(mu * std::sqrt(static_cast<double>(releases)) * (1 + 0x1p-40), terms.delta) + determinants;
  }
  return claim;
}

std::vector<Collusion> collusions(const PrivacyLoss& record, std::int64_t clients, std::int64_t of_rank_0) {
  check(record.mu.has_value(), "collusion without a mu: noise in shares is Gaussian.");
  std::vector<Collusion> result;
  for (const std::int64_t colluding : std::set<std::int64_t>{0, 1, clients / 2, of_rank_0}) {
    Collusion each{colluding, record};
    const auto all = static_cast<double>(clients);
    const double mu = *record.mu * std::sqrt(all / (all - static_cast<double>(colluding))) * (1 + 0x1p-40);
    if (colluding == clients) {
      each.record.mu.reset();
      each.record.epsilon = infinity;
    } else if (colluding > 0) {
      each.record.mu = mu;
      each.record.epsilon = gaussian_epsilon(mu, record.delta);
    }
    result.push_back(each);
  }
  return result;
}

std::vector<Collusion> collusions_on_shares(const PrivacyLoss& record, std::int64_t parties) {
  std::vector<Collusion> result;
  for (std::int64_t colluding = 1; colluding <= parties; ++colluding) {
    Collusion each{colluding, record};
    each.record.renyi.reset();
    const double mu = *record.mu * loss_by_collusion(parties, colluding);
    each.record.mu = mu;
    each.record.epsilon = gaussian_epsilon(mu, record.delta);
    result.push_back(each);
  }
  return result;
}

PrivacyLoss loss_in_clients(const PrivacyLoss& record, std::int64_t clients) {
  check(clients >= 1, "{} clients with data of somebody: must be at least 1.", clients);
  PrivacyLoss all = record;
  if (clients == 1 || std::isinf(record.epsilon)) return all;
  const auto count = static_cast<double>(clients);
  all.renyi.reset();
  if (record.mu) {
    all.mu = *record.mu * std::sqrt(count) * (1 + 0x1p-40);
    all.epsilon = gaussian_epsilon(*all.mu, record.delta);
    return all;
  }
  all.epsilon = record.epsilon * count;
  all.delta = std::min(1.0, record.delta * count);
  return all;
}

std::string recipients_of(const Trust& trust) {
  if (trust.vertical) return recipients_of_parties(*trust.vertical, trust.model != TrustModel::none);
  if (!trust.aggregated) {
    return "the client's neighbours in the communication graph and, through them, every other client";
  }
  switch (trust.model) {
    case TrustModel::none:
      return "whoever operates rank 0, without noise; every client gets the models that rank 0 makes of it";
    case TrustModel::local:
    case TrustModel::pairs:
      return "rank 0 with noise; every client gets the models that rank 0 makes of it, and nobody sees more";
    case TrustModel::central:
      return "whoever operates rank 0, without noise; every client gets the models made of the sum over all clients, "
             "to which rank 0 has added noise";
    case TrustModel::curvature:
      return "rank 0 with noise, and after the last round sums of curvatures without noise to whoever operates rank 0; "
             "every client gets the models that rank 0 makes of the former, and what it makes of the latter with noise";
    case TrustModel::masked:
      return "rank 0, under masks: it can read the noisy sum over all clients and nothing else, and every client gets "
             "the models that rank 0 makes of it";
    case TrustModel::paper:
      return "whoever operates rank 0, gradients and curvatures alike, without noise; every client gets the models "
             "that rank 0 makes of them with noise";
  }
  return "";
}

std::string statement_of(const Trust& trust, PrivacyUnit unit) {
  if (trust.vertical && trust.vertical->on_shares) return of_shares(*trust.vertical, unit, trust.keys_signed);
  if (trust.vertical) {
    const bool bare = trust.vertical->baseline_central || trust.model == TrustModel::none;
    return bare ? of_bare_parties(*trust.vertical, trust.sealed) : of_parties(*trust.vertical, unit);
  }
  if (trust.pairs) return of_pairs(*trust.pairs, trust.keys_signed);
  if (!trust.aggregated) return "";
  if (trust.model == TrustModel::central || trust.model == TrustModel::curvature) {
    return "The figures hold against the clients and all others who see the models. They do NOT hold against whoever "
           "operates rank 0, or reads its memory or the messages to it" +
           std::string(are_open(trust.sealed) ? ", which are not encrypted. " : " within its host. ");
  }
  if (trust.model == TrustModel::masked) return of_masks(trust);
  if (trust.paper) return of_paper(*trust.paper);
  return "";
}

}  // namespace starling
