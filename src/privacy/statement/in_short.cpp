// The privacy statement in four lines.
#include <cmath>

#include <fmt/format.h>

#include "privacy/accounting/in_words.hpp"
#include "privacy/statement/statement.hpp"

namespace starling {

namespace {

constexpr double much = 10;  ///< ε, from which on a loss says little

bool claims_nothing(const PrivacyReport& report) {
  return std::isinf(report.own().epsilon) || std::isinf(report.release.epsilon);
}

std::string loss_in_short(const PrivacyLoss& loss) {
  if (std::isinf(loss.epsilon)) return "without bound";
  return "epsilon = " + upper(loss.epsilon) + (loss.delta > 0 ? " at delta = " + upper(loss.delta) : "");
}

std::string who(const PrivacyReport& report) {
  if (const std::string nobody = verdict(report); !nobody.empty()) return "nobody. " + nobody;
  if (report.trust.vertical && report.trust.vertical->on_shares) {
    return report.unit == PrivacyUnit::person
               ? "a person: the columns of all the person's records at all parties, and their labels"
               : "a record: its columns at all parties, and its label";
  }
  if (report.trust.vertical) return fmt::format("what one party has of a {}: its columns", name_of(report.unit));
  return fmt::format("a {} of one client{}", name_of(report.unit),
                     report.unit == PrivacyUnit::component ? "'s gradient, and not a whole record"
                     : report.unit == PrivacyUnit::person  ? ", with all its records there"
                                                           : "");
}

std::string how_much(const PrivacyReport& report) {
  if (claims_nothing(report)) return "nothing is claimed: the loss is unbounded";
  std::string own = loss_in_short(report.own());
  if (report.at_all_clients) {
    own += fmt::format(" at one client, {} at all {} together,", loss_in_short(*report.at_all_clients), report.clients);
  }
  if (!report.is_private()) return own + " in this run, which protects nobody here";
  if (report.ledger.scope != LedgerReport::Scope::owner)
    return own + " in this run; other runs on the same data add to it";
  if (report.ledger.earlier_runs == 0) return own + " in this run, the first of its ledger";
  return fmt::format("{} in this run; {} with the {} earlier run(s) of the ledger", own,
                     loss_in_short(report.ledger.record), report.ledger.earlier_runs);
}

std::string from_whom(const PrivacyReport& report) {
  if (!report.is_private() || claims_nothing(report))
    return "nobody. What clients send goes to " + recipients_of(report.trust);
  const std::string others = report.noise_key == NoiseKeyPolicy::file ? ", or has read the noise keys" : "";
  switch (report.trust.model) {
    case TrustModel::pairs:
      return fmt::format(
          "everyone who sees messages or results, also if up to {} other client(s) help them; against all other "
          "clients together only {}; not whoever operates the machines{}",
          report.trust.pairs->colluding, loss_in_short(report.trust.pairs->all_others), others);
    case TrustModel::central:
    case TrustModel::curvature:
      return "every client and everyone who sees results; not whoever operates rank 0 or reads what is sent to it" +
             others;
    case TrustModel::masked:
      return "everyone who sees messages or results, unless clients tell their noise; not whoever operates the "
             "machines" +
             others;
    default:
      if (report.trust.vertical && report.trust.vertical->on_shares) {
        return "each party, the dealer and everyone who sees results, while nobody gives the dealer and a party the "
               "other's words; not whoever operates the machines" +
               others;
      }
      return "everyone who sees messages or results; not whoever operates the machines" + others;
  }
}

std::string left_open(const PrivacyReport& report) {
  if (!report.is_private() || claims_nothing(report)) return "everything";
  std::string text = "how many records there are and in which order, sizes and times of messages, who talks to whom";
  if (report.trust.vertical && report.trust.vertical->labels_known_to_all) text += ", the labels";
  if (!report.dealt_by.empty()) text += ", which client has which record (they were dealt by " + report.dealt_by + ")";
  if (!report.shared_metrics.empty()) text += ", metrics shared without noise (see the statement)";
  return text;
}

}  // namespace

std::vector<std::string> in_short(const PrivacyReport& report) {
  std::vector<std::string> lines{"Who is protected: " + who(report), "How much: " + how_much(report),
                                 "From whom: " + from_whom(report), "Not covered: " + left_open(report)};
  for (std::string& line : lines) {
    while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
    line += ".";
  }
  return lines;
}

std::vector<std::string> weaknesses_of(const PrivacyReport& report) {
  if (!report.is_private() || claims_nothing(report)) return {};
  std::vector<std::string> lines;
  const PrivacyLoss& own = report.own();
  if (report.units && own.delta * static_cast<double>(*report.units) > 1) {
    lines.push_back(fmt::format(
        "delta = {:.3g} protects little: it is above 1/{}, one over the number of {}s, so that giving away one of them "
        "would be allowed. Take a smaller --delta",
        own.delta, *report.units, name_of(report.unit)));
  }
  if (own.epsilon > much) {
    lines.push_back(
        fmt::format("epsilon = {} protects little: what is observed may be exp({:.3g}) times as likely with one {} as "
                    "with another. Take a smaller price, or fewer passes",
                    upper(own.epsilon), own.epsilon, name_of(report.unit)));
  }
  return lines;
}

}  // namespace starling
