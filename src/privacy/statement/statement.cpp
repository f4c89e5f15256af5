#include "privacy/statement/statement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "privacy/accounting/in_words.hpp"
#include "privacy/rows.hpp"

namespace starling {

namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "; ") + name;
  return text;
}

std::string vectors_each(const PrivacyReport& report) {
  if (report.vectors == 1) return "one vector each";
  return report.vectors == 2 ? "two vectors each" : fmt::format("at most {} vectors each", report.vectors);
}

/// What a batch consists of.
const char* in_batch(const PrivacyReport& report) {
  return report.unit == PrivacyUnit::person && !report.persons_in_slots ? "person" : "record";
}

/// The releases after the last round, in a sentence.
std::string sums_of_scores(const PrivacyReport& report) {
  if (!report.scores) return "";
  const char* const each = in_batch(report);
  return fmt::format(
      "After the last round each client releases once two sums over the scores and labels of all its {}s, to all "
      "clients, with noise of its own, which costs a {} at most {}; all totals below count it, of a run that has not "
      "come so far too. ",
      each, each, in_words(report.scores->record));
}

/// The single releases, before and after the rounds, in sentences.
std::string histograms(const PrivacyReport& report) {
  const char* const each = in_batch(report);
  const auto of = [&](const std::optional<HistogramReport>& released, const std::string& what) {
    if (!released) return std::string();
    return fmt::format(
        "Before the first round each client released once {} (in this run, or in the one whose result it has), to all "
        "clients, with noise of its own{}, which costs a {} at most {}; all totals below count it. ",
        what, report.trust.pairs ? " and of its pairs" : "", each, in_words(released->record));
  };
  const bool labels = report.norms && report.norms->labels;
  const Counted counted = report.norms ? report.norms->counted : Counted::norms;
  const std::string within =
      fmt::format("columns of all its {}s within the ranges that earlier releases had shown", each);
  const std::string of_second =
      counted == Counted::labels
          ? fmt::format("a histogram of the labels of all its {}s, alone or with means and histograms of {}", each,
                        within)
      : counted == Counted::columns ? "histograms of " + within
      : counted == Counted::norms_or_columns
          ? fmt::format("a histogram of the norms of all its {}s, histograms of {}, or both", each, within)
          : fmt::format("a histogram of the norms of all its {}s{}", each,
                        labels ? " and of the sizes of their labels" : "");
  return of(report.features, fmt::format("histograms or means of every feature{} of all its {}s",
                                         report.features && report.features->labels ? " and of the label" : "", each)) +
         of(report.norms, of_second) + sums_of_scores(report);
}

std::string joins(const PrivacyReport& report) {
  std::string text;
  for (const auto& [kind, round, clients, source] : report.joins) {
    text += fmt::format("Client(s) {} joined after round {}, and released nothing before{}. ", list_of_clients(clients),
                        round, report.norms || report.features ? ", no histogram either" : "");
  }
  return text;
}

std::string nothing_else(const PrivacyReport& report) {
  return fmt::format("Nothing else that depends on a record was sent during the rounds{}. ",
                     report.shared_metrics.empty() ? "" : ", but for the metrics named below");
}

std::string objective(const PrivacyReport& report) {
  if (!report.client_weights) return "";
  const bool equal = report.client_weights == ClientWeights::equal;
  return fmt::format("The model is made so that {}{}. ",
                     in_words(*report.client_weights, report.unit == PrivacyUnit::person),
                     equal ? ": what a client releases is multiplied by a public factor, and its noise with it" : "");
}

/// Sentence on vertical learning. A party sends a part of its releases; the rest is for its own network.
std::string released_by_parties(const PrivacyReport& report, const VerticalTrust& vertical) {
  if (vertical.baseline_central) {
    return fmt::format(
        "In run '{}' each of {} parties sent its columns of the records, in batches of at most {}, to {}. ",
        report.run_id, vertical.parties, report.batch, recipients_of(report.trust));
  }
  if (vertical.on_shares) {
    return fmt::format(
        "In run '{}' {} parties opened the gradient sum of all {} {}s {} time(s), and sent what they computed to "
        "{}. ",
        report.run_id, vertical.parties, report.batch, name_of(report.unit), report.losses.releases,
        recipients_of(report.trust));
  }
  return fmt::format(
      "In run '{}' each of {} parties took part in at most {} release(s), {}, computed from its columns of a batch of "
      "at most {} {}(s), and sent embeddings of {} records to {}. ",
      report.run_id, vertical.parties, report.losses.releases, vectors_each(report), report.batch, in_batch(report),
      report.unit == PrivacyUnit::person ? "their" : "these", recipients_of(report.trust));
}

std::string released(const PrivacyReport& report) {
  if (report.trust.vertical) return released_by_parties(report, *report.trust.vertical) + nothing_else(report);
  return fmt::format(
             "In run '{}' each of {} client(s) took part in at most {} release(s), {}, computed from a batch of at "
             "most {} {}(s), and sent what it computed from them{} to {}. ",
             report.run_id, report.clients, report.losses.releases, vectors_each(report), report.batch,
             in_batch(report), report.trust.aggregated && !report.trust.sends_models ? "" : " (its model)",
             recipients_of(report.trust)) +
         histograms(report) + objective(report) + nothing_else(report);
}

/// How the records of a person come together in a stream.
std::string gathered(const PrivacyReport& report) {
  if (!report.persons_in_slots) return "";
  return "Of the records of a batch those of one person count together, and a person who has been in as many releases "
         "as one may enter adds nothing later on. ";
}

std::string at_several(const PrivacyReport& report) {
  if (!report.at_all_clients) {
    return "Somebody with records at several clients is a person at each of them, and these losses add. ";
  }
  return fmt::format(
      "Persons are shared: somebody may have records at all {} clients and is a person at each of them, where the "
      "losses together come to at most {}. ",
      report.clients, in_words(*report.at_all_clients));
}

std::string unit_of(const PrivacyReport& report) {
  const std::string neighbours = "two data sets count as neighbours if " + report.neighbours + ". ";
  if (report.trust.vertical && report.trust.vertical->on_shares) {
    return fmt::format("What is protected is one {} and the columns of all parties: ",
                       report.unit == PrivacyUnit::person ? "person, with all records" : "record, with its label") +
           neighbours;
  }
  if (report.unit == PrivacyUnit::person) {
    return "What is protected is one person of one client, with all records: " + neighbours + gathered(report) +
           at_several(report);
  }
  if (report.unit == PrivacyUnit::record) return "What is protected is one record of one client: " + neighbours;
  return fmt::format(
      "What is protected is only one component of a gradient (the dissertation's unit), and not a whole record, whose "
      "gradient has {} components: {}",
      report.dimension, neighbours);
}

/// Rule by which the total of a run was composed.
std::string composed(const PrivacyLoss& loss) {
  if (loss.method == "gdp") return " (Gaussian releases, whose mu add in squares)";
  if (loss.method == "pld") return " (composed as distributions of the privacy loss, every rounding against us)";
  if (loss.method == "renyi") return " (composed by Renyi divergences)";
  return "";
}

/// Losses of participants with more, or with less, than the unit.
std::string other_losses(const PrivacyReport& report) {
  const ClientLosses& losses = report.losses;
  const bool record = is_whole(report.unit);
  std::string text =
      fmt::format("{} every batch of a client: at most {} by all {} release(s) of that client. ",
                  record ? fmt::format("Somebody with one {} in", name_of(report.unit)) : "If one component differs in",
                  in_words(losses.one_per_batch), losses.releases);
  if (std::isfinite(losses.client.epsilon)) {
    text += fmt::format("Somebody to whom all records of a client belong: at most {}. ", in_words(losses.client));
  } else {
    text += "For somebody to whom all records of a client belong no figure is claimed. ";
  }
  if (report.unit == PrivacyUnit::person) {
    text += "One record of a person: no more than the person. ";
  } else if (record) {
    text += "One component of a record's gradient (the dissertation's unit): no more than its record. ";
  } else if (std::isfinite(losses.record.epsilon)) {
    text += fmt::format("A whole record, a group of {} components: at most {}. ", report.dimension,
                        in_words(losses.record));
  }
  return text;
}

std::string losses(const PrivacyReport& report) {
  return fmt::format(
             "One release costs at most {}{}; a {} entered at most {} release(s), which costs at most {} in "
             "total{}. ",
             in_words(report.release), report.same_price ? "" : " (prices differ by round or client)",
             name_of(report.unit), report.losses.participations, in_words(report.own()),
             report.losses.participations > 1 ? composed(report.own()) : "") +
         other_losses(report) +
         "(An epsilon of e means: whatever is observed is at most exp(e) times as likely with one data set as with its "
         "neighbour, except with probability delta where one is named.) ";
}

std::string ledger(const PrivacyReport& report) {
  const LedgerReport& book = report.ledger;
  switch (book.scope) {
    case LedgerReport::Scope::none:
      return "No ledger was kept: the figures count this run only, and other runs on the same records add to them. ";
    case LedgerReport::Scope::run:
      return "The ledger is that of this run, in its private folder: the figures count this run only, and other runs "
             "on the same records add to them. ";
    case LedgerReport::Scope::owner:
      break;
  }
  return fmt::format(
      "Every release was entered into the ledger '{}' before it was made. With all runs in it ({} before this one) a "
      "{} has paid at most {}, had each run used it, and somebody to whom all records of a client belong at most {}; "
      "that takes it that a client's number meant the same data in all of them. ",
      book.path, book.earlier_runs, name_of(report.unit), in_words(book.record), in_words(book.client));
}

std::string audit(const PrivacyReport& report) {
  if (!report.audit) return "";
  const OneRunResult& result = *report.audit;
  return fmt::format(
      "This run was audited: the first {} of each batch gave way to a canary, and guessing {} signs from what was "
      "released shows, at 95 %, a loss of at least epsilon = {:.4g} where {:.6g} is claimed{}: the claim {}. ",
      summand_of(report.unit), result.scores.empty() ? 0 : result.scores.front().canaries, result.epsilon_lower_bound,
      result.epsilon_claimed, result.delta > 0 ? fmt::format(" at delta = {:.3g}", result.delta) : "",
      result.refuted ? "is REFUTED" : "is not refuted, which does not prove it");
}

std::string budget(const PrivacyReport& report) {
  if (!report.budget) return "";
  const BudgetReport& limit = *report.budget;
  std::string text =
      fmt::format("The budget was epsilon = {}{} for {}", size_range(limit.least, limit.most),
                  report.losses.client.delta > 0 ? fmt::format(" at delta = {:.6g}", report.losses.client.delta) : "",
                  limit.of_client ? "all records of a client together" : fmt::format("a {}", name_of(report.unit)));
  text += report.budget->stopped == 0
              ? ". "
              : fmt::format("; {} client(s) reached it, the first after round {}, and released nothing from then on. ",
                            report.budget->stopped, report.budget->stopped_after.value_or(0));
  return text;
}

std::string key_of(const PrivacyReport& report) {
  switch (report.noise_key) {
    case NoiseKeyPolicy::random:
      return "Noise keys were drawn by each client from its operating system and must stay secret. ";
    case NoiseKeyPolicy::file:
      return "Noise keys were read from files: the figures hold against everybody who has not read them. ";
    case NoiseKeyPolicy::seed:
      break;
  }
  return "Noise keys were derived from the public seed. ";
}

std::string metrics(const PrivacyReport& report) {
  if (report.shared_metrics.empty()) return "No metric computed from private records was shared. ";
  return fmt::format("Shared without noise, and outside every figure above: {}. ", joined(report.shared_metrics));
}

std::string own_model(const PrivacyReport& report) {
  if (!report.own_model) return "";
  return "Gradients came from code of the user, which was asked for one record at a time. The figures hold if its "
         "answer depends on the parameters and that record alone, and if it ends no process: before the run it was "
         "tried on public random records, which cannot prove that. ";
}

std::string personal(const PrivacyReport& report) {
  if (!report.personal) return "";
  return "Personal models are fitted to a client's records without noise, and no figure covers them: they stay in the "
         "owners' folders. Whoever is given one may learn of these records. ";
}

std::string deal(const PrivacyReport& report) {
  if (report.dealt_by.empty()) return "";
  return fmt::format(
      "Records were dealt to clients by {}, which simulates clients that differ: which client has a record, and in "
      "which round, depends on other records then, and no figure above covers that. ",
      report.dealt_by);
}

std::string not_covered(const PrivacyReport& report) {
  return fmt::format(
      "Not covered: how many {}s a client has, their order in the stream{} and the sizes of its batches; how many "
      "features they have (of sparse records the largest index, unless it was fixed beforehand); when messages are "
      "sent and how long a client computes; who talks to whom and who sits out; what becomes known of a record by "
      "other ways; other runs on the same records. ",
      in_batch(report), report.persons_in_slots ? ", which of them are of one person," : "");
}

/// Sentence on sealed messages.
std::string in_words(SealedMessages sealed) {
  switch (sealed) {
    case SealedMessages::none:
      return "Messages between clients were neither encrypted nor authenticated after that. ";
    case SealedMessages::one_host:
      return "All ranks ran on one host, and messages did not leave it. ";
    case SealedMessages::between_hosts:
      return "From then on all messages between hosts were encrypted and authenticated, under keys that these "
             "signatures cover. ";
    case SealedMessages::all:
      break;
  }
  return "From then on all messages between ranks were encrypted and authenticated, under keys that these signatures "
         "cover. ";
}

std::string members(const PrivacyReport& report) {
  if (!report.members) return "";
  constexpr std::size_t most_named = 8;
  const std::vector<RunMember>& all = report.members->all();
  std::string names;
  for (std::size_t i = 0; i < std::min(all.size(), most_named); ++i) names += (i == 0 ? "" : ", ") + all[i].name;
  if (all.size() > most_named) names += ", …";
  return fmt::format(
      "Before any record was read, all clients verified the signatures of the {} member(s) of the list with the "
      "fingerprint {}: {}. {}",
      all.size(), report.members->fingerprint(), names, in_words(report.trust.sealed));
}

constexpr const char* operators =
    "Clients that run in one process or under one user account are not protected from whoever operates it.";

}  // namespace

const char* name_of(NoiseKeyPolicy policy) {
  switch (policy) {
    case NoiseKeyPolicy::random:
      return "random";
    case NoiseKeyPolicy::seed:
      return "seed";
    case NoiseKeyPolicy::file:
      return "file";
  }
  return "unknown";
}

const char* name_of(PrivacyUnit unit) {
  if (unit == PrivacyUnit::person) return "person";
  return unit == PrivacyUnit::record ? "record" : "component";
}

std::string verdict(const PrivacyReport& report) {
  if (report.public_data) return "The records of this run are public, so the figures below protect nobody. ";
  if (report.trust.paper) {
    return "This run is NOT private by any figure that starling can prove: its noise is that of a paper. ";
  }
  if (report.trust.vertical && report.trust.vertical->baseline_central) {
    return "This run is NOT private: parties sent their raw columns to rank 0. ";
  }
  if (std::isinf(report.release.epsilon)) {
    return "This run is NOT private: no noise was added to what clients released. ";
  }
  if (report.noise_key == NoiseKeyPolicy::seed) {
    return "This run is NOT private: the noise comes from a public seed, so anybody who knows the seed can take it off "
           "again; the figures below would hold for secret noise keys. ";
  }
  return "";
}

bool PrivacyReport::is_private() const {
  if (trust.vertical && trust.vertical->baseline_central) return false;
  return !public_data && noise_key != NoiseKeyPolicy::seed && std::isfinite(release.epsilon);
}

PrivacyReport privacy_report(const Protection& mechanism, const std::string& mechanism_name, NoiseKeyPolicy noise_key,
                             const ClientLosses& worst, std::int64_t clients, std::optional<double> delta) {
  check(worst.participations >= 0 && worst.participations <= worst.releases && clients >= 1,
        "{} participations in {} releases of {} clients: a record enters no more releases than its client makes.",
        worst.participations, worst.releases, clients);
  const ReleaseSettings& settings = mechanism.settings();
  const std::vector<ChargeGroup> release{{mechanism.charge(settings.price.most), 1}};
  PrivacyReport report;
  report.mechanism = mechanism_name;
  report.description = mechanism.description();
  report.noise_key = noise_key;
  report.unit = mechanism.unit();
  report.persons_in_slots = settings.persons_in_slots;
  report.neighbours = mechanism.neighbours();
  report.release = compose(release, delta.value_or(default_delta(release)));
  report.same_price = settings.price.least == settings.price.most;
  report.losses = worst;
  report.clients = clients;
  report.batch = settings.batch / settings.clients;
  report.trust.model = std::isinf(report.release.epsilon) ? TrustModel::none : TrustModel::local;
  report.dimension = settings.dimension;
  report.clip = mechanism.clip().kind == ClipKind::none ? std::numeric_limits<double>::infinity() : settings.clip;
  report.run_id = settings.run_id;
  return report;
}

std::string statement(const PrivacyReport& report) {
  const std::string mechanism =
      fmt::format("Mechanism '{}': {} {}", report.mechanism, report.description, joins(report));
  const std::string beginning = verdict(report) + released(report);
  const bool raw = report.trust.vertical && report.trust.vertical->baseline_central;
  if (raw || std::isinf(report.release.epsilon)) {
    return beginning + mechanism + "The privacy loss of every record is unbounded. " +
           statement_of(report.trust, report.unit) + metrics(report) + deal(report) + ledger(report) + members(report) +
           operators;
  }
  return beginning + unit_of(report) + mechanism + losses(report) + statement_of(report.trust, report.unit) +
         key_of(report) + ledger(report) + budget(report) + audit(report) + metrics(report) + own_model(report) +
         personal(report) + deal(report) + not_covered(report) + members(report) + operators;
}

}  // namespace starling
