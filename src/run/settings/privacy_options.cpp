#include "privacy_options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "catalogue.hpp"
#include "core/text/limits.hpp"
#include "files/round_values.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/metrics_policy.hpp"
#include "privacy/statement/statement.hpp"
#include "source_options.hpp"

namespace starling {

namespace {

/// Each of them stands in every row of a ledger.
constexpr double most_person_rounds = 1000;

/// Prices and budgets in a file have no effect where the command line chooses a mechanism without noise.
std::pair<std::string, std::string> fades() {
  return {"mechanism", mechanism_table().first(ChargeKind::unbounded).name};
}

/// A price or budget as text. What it says of rounds and clients can be read only when their number is known; a plain
/// number is checked at once, where the message can say where it stands.
std::function<void(const std::string&)> amount(std::optional<std::string>& target, double least, double most) {
  return [&target, least, most](const std::string& text) {
    if (!text.starts_with("schedule:") && !text.starts_with("clients:")) {
      static_cast<void>(number_between(text, least, most));
    }
    target = text;
  };
}

void add_price_options(Options& options, PrivacyOptions& privacy) {
  options.add(declared("mechanism", {.values = mechanism_values}), [&privacy](const std::string& text) {
    static_cast<void>(mechanism_table().row(text));  // a name that is none is said before what goes with it
    privacy.mechanism = text;
  });
  options.add(declared("epsilon", {.values = price_values, .falls_with = fades()}),
              amount(privacy.epsilon, tiny, most_epsilon));
  options.add(declared("mu", {.values = price_values, .falls_with = fades()}), amount(privacy.mu, tiny, most_mu));
  options.add(declared("delta"), privacy.delta);
  options.add(declared("clip"), privacy.clip);
}

void add_unit_option(Options& options, PrivacyOptions& privacy) {
  options.add(declared("unit"), privacy.unit, {{"record", PrivacyUnit::record}, {"component", PrivacyUnit::component}});
}

void add_unit_with_persons(Options& options, PrivacyOptions& privacy, DataSettings& data, PersonChoices choices) {
  options.add(
      declared("unit",
               "whose loss is counted: record, component (one entry of one record's gradient), "
               "or person (all records with one value of --person)",
               {.relations = {needs("person", "nothing else tells whose records they are").only_for("person")}}),
      privacy.unit,
      {{"record", PrivacyUnit::record}, {"component", PrivacyUnit::component}, {"person", PrivacyUnit::person}});
  const Relation by_person = needs("unit=person", "records stand for themselves without it");
  options.add(option("person", "COLUMN",
                     "name or number (from 0) of the column that tells the persons of a client apart: not a feature. "
                     "Batches, passes and partitions are then of persons",
                     {.example = "patient", .relations = {by_person}}),
              data.person);
  add_missing_person_option(options, data.missing_person);
  if (choices == PersonChoices::mean) return;
  options.add(option("person-gradient", "HOW",
                     "gradient of a person, before it is clipped: the mean of the gradients of the person's records "
                     "(persons count alike), or their sum",
                     {.relations = {by_person}}),
              privacy.person_mean, {{"mean", true}, {"sum", false}});
  data.persons_in_pipes = true;
  options.add(
      option(
          "person-rounds", "K",
          "of a pipe, whose records are gathered by person round by round: most rounds (fedavg: local steps) that use "
          "a person, each of which costs a release; later records of the person add nothing. Default: 1",
          {.range = {1, most_person_rounds}, .unit = "rounds", .example = "4", .relations = {by_person}}),
      data.person_rounds);
  options.add(flag("persons-shared",
                   "a person may have records at several clients (such as hospitals with one numbering): the "
                   "statement also says what the losses at all of them come to",
                   {.relations = {by_person}}),
              privacy.persons_shared);
}

void add_ledger_options(Options& options, PrivacyOptions& privacy) {
  options.add(
      option("budget", "E",
             "epsilon that a client's releases may come to, over all runs in its ledger: a number, or clients:FILE. A "
             "client that reached it goes on without learning",
             {.example = "8 --mechanism gaussian --epsilon 1", .files = named::spec, .falls_with = fades()}),
      amount(privacy.budget, 0, std::numeric_limits<double>::max()));
  options.add(
      option("budget-unit", "WHOSE",
             "loss that --budget limits: client (all records of a client together) or record (its worst "
             "record; its worst component under --unit component)",
             {.falls_with = fades(), .relations = {needs("budget", "there is no budget to limit").only_for("record")}}),
      privacy.budget_of_client, {{"client", true}, {"record", false}});
  options.add(
      option("ledger", "FILE",
             "ledger that the owner of the data keeps, where every release is entered before it is made; with several "
             "ranks one per client, named with {client}, whose number must mean the same data in all runs. Default: "
             "one of this run alone, in private/",
             {.example = "ledger-{client}", .files = named::file, .effect = Option::Effect::books}),
      privacy.ledger);
  options.add(
      option("ledger-block", "K",
             "rounds (fedavg: local steps) entered at a time, which a crash charges as a whole; default: 1, 2, 4, ... "
             "up to 4096, and on to 2^20 while blocks are used up within half a second",
             {.range = {1, most_whole}, .unit = "rounds", .example = "64", .effect = Option::Effect::none}),
      privacy.ledger_block);
}

void add_secrecy_options(Options& options, PrivacyOptions& privacy) {
  options.add(declared("noise-key"), privacy.noise_key);
  options.add(
      flag("audit",
           "audit this very run: the first record of each batch gives way to a canary, whose secret sign is guessed "
           "from what was released; ends with exit code 1 if that refutes the claim",
           {.example = "--mechanism gaussian --epsilon 1"}),
      privacy.audit);
  options.add(
      option("metrics", "WHERE",
             "local: losses on private records stay in private/; shared: they are shown; auto: shared without noise, "
             "under --noise-key seed and for synthetic sources",
             {.effect = Option::Effect::books}),
      privacy.metrics,
      {{"auto", MetricsChoice::automatic}, {"local", MetricsChoice::local}, {"shared", MetricsChoice::shared}});
}

/// The price of a release follows from the number of releases that a unit enters, which is public.
void add_total_price(Options& options, PrivacyOptions& privacy) {
  const std::string why = "either says what a release costs";
  options.add(
      option("total-epsilon", "E",
             "in place of --epsilon: privacy loss of a unit (--unit) in all its releases, over all passes (--epochs). "
             "A number, or clients:FILE. With --delta above 0 (always under gaussian), epsilon at that delta",
             {.unit = "as of --epsilon",
              .example = "1 --mechanism gaussian",
              .common = true,
              .files = named::spec,
              .falls_with = fades(),
              .relations = {excludes("epsilon", why, "Give one of them."), excludes("mu", why, "Give one of them."),
                            needs("mechanism=laplace|gaussian",
                                  "a total is shared out among releases with noise of one of these kinds")}}),
      [read = amount(privacy.total_epsilon, tiny, most_epsilon)](const std::string& text) {
        check(!text.starts_with("schedule:"), "{}: a total has no rounds over which it could change. Give a number.",
              text);
        read(text);
      });
}

}  // namespace

bool PrivacyOptions::protects() const {
  return mechanism && mechanism_row().protects();
}

const MechanismRow& PrivacyOptions::mechanism_row() const {
  return mechanism_table().row(mechanism.value());
}

bool PrivacyOptions::has_price_by(std::string_view form) const {
  return std::ranges::any_of(std::array{&mu, &epsilon, &total_epsilon},
                             [form](const auto* price) { return price->value_or("").starts_with(form); });
}

void add_privacy_options(Options& options, PrivacyOptions& privacy) {
  options.group("Privacy");
  add_price_options(options, privacy);
  add_unit_option(options, privacy);
  add_ledger_options(options, privacy);
  add_secrecy_options(options, privacy);
  add_total_price(options, privacy);
}

void add_privacy_options(Options& options, PrivacyOptions& privacy, DataSettings& data, PersonChoices choices) {
  options.group("Privacy");
  add_price_options(options, privacy);
  add_unit_with_persons(options, privacy, data, choices);
  add_ledger_options(options, privacy);
  add_secrecy_options(options, privacy);
  add_total_price(options, privacy);
}

std::vector<Relation> relations_of_pairs(const std::vector<Relation>& of_command) {
  std::vector<Relation> relations{needs("mechanism=gaussian", "noise between pairs is Gaussian"),
                                  excludes("unit=component", "its cost is known for whole gradients"),
                                  excludes("audit", "canaries do not show what a coalition sees")};
  relations.insert(relations.end(), of_command.begin(), of_command.end());
  for (Relation& each : relations) each = each.only_for("pairs");
  return relations;
}

void add_pair_options(Options& options, PrivacyOptions& privacy, const std::vector<Relation>& of_command) {
  options.add(
      option("trust", "WHOM",
             "local (each client's own noise hides its records) or pairs (each pair of clients shares noise besides, "
             "which cancels in the mean: the noise of a trusted server, with nobody trusted but for --collusion)",
             {.initial = "local",
              .example = "pairs --mechanism gaussian --total-epsilon 1",
              .relations = relations_of_pairs(of_command)}),
      privacy.trusts_pairs, {{"local", false}, {"pairs", true}});
  add_pair_choices(options, privacy);
}

void add_pair_choices(Options& options, PrivacyOptions& privacy, const std::string& beside) {
  const std::string with = " --trust pairs --mechanism gaussian --total-epsilon 1" + beside;
  const Relation in_pairs = needs("trust=pairs", "without it no noise is shared");
  options.add(
      option("collusion", "K",
             "of --trust pairs: the printed losses hold against any K clients that pool all that they know, and "
             "everybody outside",
             {.initial = "1", .range = {0, 1e6}, .unit = "clients", .example = "2" + with, .relations = {in_pairs}}),
      privacy.collusion);
  options.add(
      option(
          "pairs", "WHICH",
          "of --trust pairs: who shares noise: all, neighbours (of the topology, if there is one, and others by lot, "
          "to have 2K + 16 partners each), or a topology file. Default: all of up to 64 clients, else neighbours",
          {.example = "all" + with, .files = named::spec, .relations = {in_pairs}}),
      privacy.pairs_choice);
}

bool may_share_noise(const PrivacyOptions& privacy) {
  return privacy.mechanism && !privacy.trusts_pairs && privacy.mechanism_row().gaussian() && is_whole(privacy.unit) &&
         !privacy.prices_change() && !privacy.prices_differ() && !privacy.audit;
}

void check_privacy_options(const PrivacyOptions& privacy) {
  check(!privacy.trusts_pairs || !(privacy.prices_change() || privacy.prices_differ()),
        "--trust pairs with prices that change or differ: clients hide each other by noise of one size. Give one "
        "price, or --trust local.");
  const bool none = privacy.mechanism && !privacy.protects();
  check(!none || !(privacy.epsilon || privacy.mu || privacy.total_epsilon),
        "--{} with --mechanism none: nothing is protected, so there is no price to pay. Leave it out, or choose a "
        "mechanism that protects, such as laplace",
        privacy.epsilon ? "epsilon"
        : privacy.mu    ? "mu"
                        : "total-epsilon");
  const bool gaussian = privacy.mechanism && privacy.mechanism_row().gaussian();
  check(!privacy.mu || gaussian,
        "--mu {} has no meaning {}: it is the price of Gaussian noise. Give --epsilon, or choose "
        "gaussian.",
        privacy.mu.value_or(""), privacy.mechanism ? "under --mechanism " + *privacy.mechanism : "without --mechanism");
  check(!gaussian || !privacy.delta || *privacy.delta > 0,
        "--delta 0 under gaussian: no finite epsilon holds with it. Give a small one, such as 1e-5.");
  check(!privacy.budget || privacy.protects(),
        "--budget without noise: a release that nothing protects costs more than any budget. Choose a mechanism.");
  check(privacy.unit != PrivacyUnit::person || !privacy.mechanism || !privacy.mechanism_row().about_means,
        "--unit person with --mechanism {}: it claims nothing about whole gradients. Choose laplace or gaussian.",
        privacy.mechanism.value_or(""));
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

void require_protection(const PrivacyOptions& privacy) {
  check(privacy.mechanism.has_value(),
        "no --mechanism is chosen: a run on data must say how they are protected: no default would be right for all. "
        "Choose one of: {}.",
        mechanism_table().names());
  check(!privacy.protects() || privacy.epsilon || privacy.mu || privacy.total_epsilon,
        "--mechanism {} without a price: how much a {} may lose is yours to say. Give --total-epsilon (in the whole "
        "run), or --epsilon (in each release).",
        *privacy.mechanism, name_of(privacy.unit));
}

bool harms_nobody(const PrivacyOptions& privacy, bool public_data) {
  return public_data || !privacy.protects() || privacy.noise_key == "seed";
}

MetricsPolicy metrics_policy_of(const PrivacyOptions& privacy, bool public_data, SharedFigures* log) {
  using Sharing = MetricsPolicy::Sharing;
  if (privacy.metrics == MetricsChoice::local) return MetricsPolicy(Sharing::local);
  const bool shared = privacy.metrics == MetricsChoice::shared || harms_nobody(privacy, public_data);
  return MetricsPolicy(shared ? Sharing::shared : Sharing::local, log);
}

OptionValues mechanism_values() {
  return values_of("Mechanisms", mechanism_table());
}

OptionValues price_values() {
  return {"Prices",
          "  a number                     the same for every release\n"
          "  clients:FILE                 CSV of (client, value), a line for each client\n  " +
              schedule_help(),
          {"clients:", "schedule:"}};
}

}  // namespace starling
