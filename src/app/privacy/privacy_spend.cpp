// `starling privacy spend`.
#include <cmath>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "files/round_values.hpp"
#include "privacy/accounting/in_words.hpp"
#include "privacy/mechanism.hpp"
#include "release_terms.hpp"
#include "report/view/summary_view.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

constexpr std::int64_t most_scheduled = 10'000'000;

struct Spend {
  ReleaseTerms terms;
  std::optional<std::string> epsilon;  // a number or a schedule, as mu
  std::optional<std::string> mu;
  std::optional<std::string> groups;
  std::int64_t releases = 1;
  double delta = 1e-5;
  bool json = false;
};

OptionValues schedule_values() {
  return {"Schedules, over the K releases", "  " + schedule_help(), {"schedule:"}};
}

OptionValues group_values() {
  return {"Groups",
          "  a CSV file whose first line names the columns: mechanism and releases, and of epsilon, mu,\n"
          "  sigma, scale, sensitivity, delta and rounds those that are needed (delta: of approximate, or\n"
          "  where epsilon of gaussian holds). Cells may be empty; # begins a comment.\n"
          "    mechanism,epsilon,mu,releases\n"
          "    laplace,0.1,,50\n"
          "    gaussian,,0.2,100\n"};
}

Options spend_options(Spend& spend) {
  const std::string says = "the file says it of each group";
  Options options("privacy spend");
  options.group("A release");
  options.add(
      declared("mechanism",
               mechanism_table().names() + ", pure (any mechanism with epsilon alone) or approximate (any mechanism "
                                           "with epsilon and delta)",
               {.example = "laplace"}),
      spend.terms.mechanism);
  options.add(
      declared("epsilon", "its loss (of laplace: sensitivity / scale; of gaussian: at --delta); a number or a schedule",
               {.values = schedule_values}),
      spend.epsilon);
  options.add(declared("mu", "of gaussian: sensitivity / sigma; a number or a schedule", {.values = schedule_values}),
              spend.mu);
  options.add(option("sigma", "S", "of gaussian: standard deviation of the noise",
                     {.range = {0, infinity}, .example = "5 --mechanism gaussian"}),
              spend.terms.sigma);
  options.add(declared("scale", "of laplace: scale b of the noise, density exp(-|x|/b)/(2b)",
                       {.argument = "B", .range = {0, infinity}, .example = "10 --mechanism laplace"}),
              spend.terms.scale);
  options.add(declared("sensitivity",
                       "how far replacing one record moves the released value: in L1 with --scale, in L2 with --sigma; "
                       "default: 1. Clipping records to C makes it 2C, not C",
                       {.range = {0, infinity}}),
              spend.terms.sensitivity);
  options.add(option("release-delta", "D", "of approximate: probability that one release fails",
                     {.range = {0, 1}, .unit = "probability", .example = "1e-6 --mechanism approximate --epsilon 1"}),
              spend.terms.delta);
  options.add(declared("rounds", "of dissertation: rounds of the run, which say where its noise is cut off",
                       {.range = {2, 9e15}}),
              spend.terms.rounds);
  options.group("All of them");
  options.add(declared("releases", {.common = true}), spend.releases);
  options.add(
      option("groups", "FILE", "different releases, in place of all options above",
             {.values = group_values,
              .example = "releases.csv",
              .files = named::file,
              .relations = {excludes("mechanism", says), excludes("epsilon", says), excludes("mu", says),
                            excludes("sigma", says), excludes("scale", says), excludes("sensitivity", says),
                            excludes("release-delta", says), excludes("rounds", says), excludes("releases", says)}}),
      spend.groups);
  options.add(
      declared("delta", "probability with which the loss may be exceeded; 0: pure losses add up", {.initial = "1e-5"}),
      spend.delta);
  options.add(
      declared(
          "json",
          {.help = "print one JSON object: epsilon, mu, renyi, method, delta, releases, pure (null: unbounded, or not "
                   "applicable)"}),
      spend.json);
  options.add(declared("help"));
  return options;
}

/// A group for each run of equal charges.
std::vector<ChargeGroup> scheduled(const Spend& spend, const std::string& text, const char* option,
                                   std::optional<double> ReleaseTerms::*term) {
  const RoundValues values = RoundValues::parse(text, option, spend.releases, 0, infinity);
  ReleaseTerms terms = spend.terms;
  if (values.constant()) {
    terms.*term = values.at(0);
    return {{charge_of(terms, "--mechanism " + terms.mechanism), spend.releases}};
  }
  check(spend.releases <= most_scheduled, "--releases {} with a schedule: at most {} are told apart. Use --groups.",
        spend.releases, most_scheduled);
  std::vector<ChargeGroup> groups;
  std::optional<double> before;
  for (std::int64_t t = 0; t < spend.releases; ++t) {
    if (values.at(t) != before) {
      terms.*term = before = values.at(t);
      groups.push_back({charge_of(terms, fmt::format("{} {} in round {}", option, text, t)), 0});
    }
    ++groups.back().count;
  }
  return groups;
}

std::vector<ChargeGroup> groups_of(const Spend& spend, const Options& options) {
  if (spend.groups) return read_charge_groups(*spend.groups);
  check(options.given("mechanism"),
        "neither --mechanism nor --groups: what was released? See starling privacy spend --help.");
  Spend complete = spend;
  const bool gaussian = is_gaussian(spend.terms.mechanism);
  check(!gaussian || !spend.terms.delta, "--release-delta has no meaning under gaussian: its epsilon is at --delta.");
  if (gaussian && spend.epsilon) complete.terms.delta = spend.delta;
  if (spend.epsilon) return scheduled(complete, *spend.epsilon, "--epsilon", &ReleaseTerms::epsilon);
  if (spend.mu) return scheduled(complete, *spend.mu, "--mu", &ReleaseTerms::mu);
  return {{charge_of(complete.terms, "--mechanism " + complete.terms.mechanism), complete.releases}};
}

std::string meaning(const std::string& method) {
  if (method == "gdp") return "gdp (Gaussian noise: mu adds up in squares)";
  if (method == "pld") return "pld (distribution of the privacy loss)";
  if (method == "renyi") return "renyi (Renyi accounting at its best order)";
  return method == "pure" ? "pure (losses add up)" : method;
}

std::string table_of(const PrivacyLoss& loss, double pure, std::int64_t releases) {
  const auto line = [](const char* name, const std::string& value) { return fmt::format("{:<10} {}\n", name, value); };
  return line("epsilon", upper(loss.epsilon, 9)) + line("delta", fmt::format("{}", loss.delta)) +
         line("method", meaning(loss.method)) +
         line("mu", loss.mu ? upper(*loss.mu, 9) : "none (not all noise is Gaussian)") +
         line("renyi", loss.renyi ? upper(*loss.renyi, 9) : "none") +
         line("pure", upper(pure, 9) + (std::isinf(pure) ? "" : " (at delta = 0)")) +
         line("releases", fmt::format("{}", releases));
}

Manual spend_manual() {
  return {
      .usage =
          "--mechanism NAME (--epsilon | --mu | --sigma | --scale) V [OPTIONS]\n"
          "--groups FILE [--delta D] [--json]",
      .text =
          "Says what all releases that one record entered cost it together: (epsilon, delta), an upper bound that "
          "holds in floating point. Gaussian noise alone composes exactly (gdp). Otherwise the least of three figures "
          "is taken, each valid: the sum of the losses (pure), Renyi accounting (renyi), and the distribution of the "
          "privacy loss (pld). Records that never share a release do not add up: count the releases of the one that "
          "entered most (epochs, on a stream). Exit codes: 0 done; 2 usage, or a file that is none.",
      .examples = {
          "starling privacy spend --mechanism laplace --epsilon 0.1 --releases 50",
          "starling privacy spend --mechanism gaussian --sigma 5 --sensitivity 2 --releases 50 --delta 1e-6 --json",
          "starling privacy spend --mechanism laplace --epsilon schedule:from=0.1,to=0.5,shape=sqrt --releases 1000",
          "starling privacy spend --groups releases.csv --delta 1e-6"}};
}

int run_spend(const Call& call) {
  Spend spend;
  Options options = spend_options(spend);
  options.parse(call.words);
  const std::vector<ChargeGroup> groups = groups_of(spend, options);
  const PrivacyLoss loss = compose(groups, spend.delta);
  const double pure = compose(groups, 0).epsilon;
  std::int64_t releases = 0;
  for (const ChargeGroup& group : groups) releases += group.count;
  if (!spend.json) {
    print(table_of(loss, pure, releases));
    return 0;
  }
  const nlohmann::json result{{"epsilon", number_json(loss.epsilon)},
                              {"mu", number_json(loss.mu)},
                              {"renyi", number_json(loss.renyi)},
                              {"method", loss.method},
                              {"delta", loss.delta},
                              {"releases", releases},
                              {"pure", number_json(pure)}};
  print(result.dump() + '\n');
  return 0;
}

}  // namespace

Command privacy_spend_command() {
  return command_of<Spend, spend_options>("spend", "what releases cost together, by the best accountant", spend_manual,
                                          run_spend);
}

}  // namespace starling
