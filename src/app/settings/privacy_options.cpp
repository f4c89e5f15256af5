#include "privacy_options.hpp"

#include <limits>
#include <utility>

#include "starling/core/limits.hpp"
#include "starling/files/round_values.hpp"

namespace starling {

namespace {

/// Prices and budgets in a file have no effect where the command line chooses a mechanism without noise.
std::pair<std::string, std::string> fades() {
  return {"mechanism", mechanism_table().first(ChargeKind::unbounded).name};
}

/// A price or budget as text. What it says of rounds and clients can be read only when their number is known; a plain
/// number is checked at once, where the message can say where it stands.
std::function<void(const std::string&)> amount(std::optional<std::string>& target, double least, double most) {
  return [&target, least, most](const std::string& text) {
    if (!text.starts_with("schedule:") && !text.starts_with("clients:")) {
      std::optional<double> value;
      setter::number(value, least, most)(text);
    }
    target = text;
  };
}

void add_price_options(Options& options, PrivacyOptions& privacy, const char* group) {
  options.add({group, "mechanism", "NAME", "",
               "how gradients are protected (below); a run that learns does not start without one",
               setter::text(privacy.mechanism)});
  options.add({group, "epsilon", "E", "",
               "privacy loss per release (Prices, below); default: 1. Under gaussian, epsilon at --delta",
               amount(privacy.epsilon, tiny, most_epsilon), false, named::spec, fades()});
  options.add({group, "mu", "M", "", "under gaussian, in place of --epsilon: mu per release (Prices, below)",
               amount(privacy.mu, tiny, most_mu), false, named::spec, fades()});
  options.add({group, "delta", "D", "",
               "probability that losses are stated with; default: 0 for laplace, 1e-5 for gaussian",
               setter::number(privacy.delta, 0, 0.999999)});
  options.add(
      {group, "clip", "C", "",
       "norm to which each record's gradient is clipped (L1 under laplace, L2 under gaussian); default: 1, none "
       "under --mechanism none",
       setter::number(privacy.clip, tiny, 1e12)});
  options.add({group, "unit", "UNIT", "record",
               "whose loss is counted: record, or component (one entry of one record's gradient)",
               setter::choice<PrivacyUnit>(privacy.unit,
                                           {{"record", PrivacyUnit::record}, {"component", PrivacyUnit::component}})});
}

void add_ledger_options(Options& options, PrivacyOptions& privacy, const char* group) {
  options.add(
      {group, "budget", "E", "",
       "epsilon that a client's releases may come to, over all runs in its ledger: a number, or clients:FILE. A "
       "client that reached it goes on without learning",
       amount(privacy.budget, 0, std::numeric_limits<double>::max()), false, named::spec, fades()});
  options.add(
      {group, "budget-unit", "WHOSE", "client",
       "loss that --budget limits: client (all records of a client together) or record (its worst record; its worst "
       "component under --unit component)",
       setter::choice<bool>(privacy.budget_of_client, {{"client", true}, {"record", false}})});
  options.add(
      {group, "ledger", "FILE", "",
       "ledger that the owner of the data keeps, where every release is entered before it is made; with several "
       "ranks one per client, named with {client}, whose number must mean the same data in all runs. Default: "
       "one of this run alone, in private/",
       setter::text(privacy.ledger), false, named::file});
  options.add({group, "ledger-block", "K", "",
               "rounds (fedavg: local steps) entered at a time, which a crash charges as a whole; default: 1, 2, 4, "
               "... up to 4096, and on "
               "to 2^20 while blocks are used up within half a second",
               setter::integer(privacy.ledger_block, 1, most_whole)});
}

void add_secrecy_options(Options& options, PrivacyOptions& privacy, const char* group) {
  options.add({group, "noise-key", "KEY", "random",
               "random (from the operating system), seed (derived from --seed: reproducible, not private), or a FILE "
               "per client, named with {client}",
               setter::text(privacy.noise_key), false, named::noise_key});
  options.add(
      {group, "audit", "", "",
       "audit this very run: the first record of each batch gives way to a canary, whose secret sign is guessed "
       "from what was released; ends with exit code 1 if that refutes the claim",
       setter::flag(privacy.audit)});
  options.add({group, "metrics", "WHERE", "auto",
               "local: losses on private records stay in private/; shared: they are shown; auto: shared without noise, "
               "under --noise-key seed and for synthetic sources",
               setter::choice<MetricsChoice>(privacy.metrics, {{"auto", MetricsChoice::automatic},
                                                               {"local", MetricsChoice::local},
                                                               {"shared", MetricsChoice::shared}})});
}

}  // namespace

const MechanismRow& PrivacyOptions::mechanism_row() const {
  return mechanism_table().row(mechanism.value());
}

void add_privacy_options(Options& options, PrivacyOptions& privacy) {
  const char* group = "Privacy";
  add_price_options(options, privacy, group);
  add_ledger_options(options, privacy, group);
  add_secrecy_options(options, privacy, group);
}

void check_privacy_options(const PrivacyOptions& privacy) {
  const bool none = privacy.mechanism && !privacy.protects();
  check(!none || !(privacy.epsilon || privacy.mu),
        "--{} with --mechanism none: nothing is protected, so there is no price to pay. Leave it out, or choose a "
        "mechanism that protects, such as laplace",
        privacy.epsilon ? "epsilon" : "mu");
  check(!(privacy.epsilon && privacy.mu), "--epsilon and --mu exclude each other (either says what a release costs)");
  const bool gaussian = privacy.mechanism && privacy.mechanism_row().gaussian();
  check(!privacy.mu || gaussian,
        "--mu {} has no meaning under --mechanism {}: it is the price of Gaussian noise. Give --epsilon, or choose "
        "gaussian.",
        privacy.mu.value_or(""), privacy.mechanism.value_or("(none given)"));
  check(!gaussian || !privacy.delta || *privacy.delta > 0,
        "--delta 0 under gaussian: no finite epsilon holds with it. Give a small one, such as 1e-5.");
  check(!privacy.budget || privacy.protects(),
        "--budget without noise: a release that nothing protects costs more than any budget. Choose a mechanism.");
  check(!privacy.audit || privacy.protects(),
        "--audit without noise: nothing is claimed that could be refuted. Choose a mechanism.");
  check(!privacy.audit || !privacy.mechanism_row().about_means,
        "--audit with --mechanism {0}: it claims nothing about whole records, and canaries are whole records. Use "
        "starling privacy audit --mechanism {0}.",
        privacy.mechanism.value_or(""));
  check(!privacy.ledger || privacy.noise_key != "seed",
        "--ledger with --noise-key seed: anybody who knows the seed can take the noise off, so the ledger's figures "
        "would be wrong. Leave one of them out.");
}

MetricsPolicy metrics_policy_of(const PrivacyOptions& privacy, bool public_data, SharedFigures* log) {
  using Sharing = MetricsPolicy::Sharing;
  if (privacy.metrics == MetricsChoice::local) return MetricsPolicy(Sharing::local);
  const bool harmless = public_data || !privacy.protects() || privacy.noise_key == "seed";
  return MetricsPolicy(privacy.metrics == MetricsChoice::shared || harmless ? Sharing::shared : Sharing::local, log);
}

std::string prices_help() {
  return "\nPrices (--epsilon, --mu):\n"
         "  a number                     the same for every release\n"
         "  clients:FILE                 CSV of (client, value), a line for each client\n  " +
         schedule_help();
}

}  // namespace starling
