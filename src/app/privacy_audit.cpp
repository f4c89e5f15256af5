#include "privacy_audit.hpp"

#include "audit_protocol.hpp"
#include "audit_report.hpp"
#include "data_commands.hpp"
#include "pass.hpp"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "starling/app/options.hpp"
#include "starling/privacy/accounting.hpp"
#include "starling/privacy/statement.hpp"
#include "starling/record/audit_picture.hpp"

namespace starling {

namespace {

constexpr double tiny = std::numeric_limits<double>::min();
constexpr double most_epsilon = 1e6;
constexpr double most_mu = 1e3;
constexpr double delta_of_gaussian_claims = 1e-5;
constexpr std::int64_t samples_of_releases = 1'000'000;
constexpr std::int64_t samples_of_runs = 100'000;
constexpr std::int64_t canaries = 100'000;

struct AuditChoice {
  std::string mechanism;
  std::optional<double> epsilon;
  std::optional<double> mu;
  std::optional<double> delta;
  double clip = 1;
  PrivacyUnit unit = PrivacyUnit::record;
  std::size_t batch = 1;
  std::size_t dimension = 1;
  std::optional<Round> rounds;
  std::optional<std::int64_t> samples;
  bool of_omd = false;
  bool one_run = false;
  bool seeded = false;
  std::uint64_t seed = 1;
  bool checks_itself = true;
  std::optional<std::string> output;
  bool json = false;
  ProgressChoice progress = ProgressChoice::automatic;
  bool print_config = false;
};

void add_claim_options(Options& options, AuditChoice& choice) {
  const char* group = "Claim";
  options.add({group, "mechanism", "NAME", "", "what is audited (Mechanisms, below); required",
               setter::text(choice.mechanism)});
  options.add({group, "epsilon", "E", "",
               "claimed privacy loss of a release; default: 1. With --mechanism gaussian: at --delta",
               setter::number(choice.epsilon, tiny, most_epsilon)});
  options.add({group, "mu", "MU", "", "claimed loss of a release in Gaussian differential privacy (gaussian alone)",
               setter::number(choice.mu, tiny, most_mu)});
  options.add({group, "delta", "D", "",
               "of the claim; default: 0, and 1e-5 for gaussian. The dissertation claims 0 for its mechanism",
               setter::number(choice.delta, tiny, 0.999)});
  options.add({group, "unit", "UNIT", "record", "whose loss is claimed: record, or component of a record's gradient",
               setter::choice<PrivacyUnit>(choice.unit,
                                           {{"record", PrivacyUnit::record}, {"component", PrivacyUnit::component}})});
  options.add({group, "clip", "C", "1", "norm to which each record's gradient is clipped",
               setter::number(choice.clip, tiny, 1e12)});
  options.add({group, "batch", "M", "1", "records in a sum", setter::integer(choice.batch, 1, 1'000'000'000)});
  options.add(
      {group, "dimension", "D", "1", "components of a gradient", setter::integer(choice.dimension, 1, 100'000'000)});
  options.add({group, "rounds", "T", "",
               "for dissertation: rounds of the run, on which its truncation depends (5); with --protocol omd: rounds "
               "that are played and seen (2)",
               setter::integer(choice.rounds, 1, most_whole)});
}

void add_method_options(Options& options, AuditChoice& choice) {
  const char* group = "Audit";
  options.add({group, "samples", "N", "",
               "releases of each side that are judged; as many others, or as memory holds, choose the events. Default: "
               "1000000; 100000 with --protocol omd; with --run: rounds (100000)",
               setter::integer(choice.samples, 100, 1'000'000'000'000)});
  options.add({group, "protocol", "NAME", "none",
               "none: the release itself; omd: what a neighbour holds after whole small runs of `starling omd`",
               setter::choice<bool>(choice.of_omd, {{"none", false}, {"omd", true}})});
  options.add({group, "run", "", "",
               "one long run with a canary in each round, whose signs are guessed (with --protocol omd)",
               setter::flag(choice.one_run)});
  options.add({group, "noise-key", "KEY", "random",
               "random: each run has a key from the operating system; seed: each has the key that `--noise-key seed` "
               "gives, which is found out",
               setter::choice<bool>(choice.seeded, {{"random", false}, {"seed", true}})});
  options.add({group, "seed", "S", "1", "of --noise-key seed", setter::integer(choice.seed, 0, most_whole)});
  options.add({group, "self-check", "WHEN", "on",
               "on: first audit a null pair, an honest pair and every planted fault; off: do not",
               setter::choice<bool>(choice.checks_itself, {{"on", true}, {"off", false}})});
}

Options audit_options(AuditChoice& choice) {
  Options options("privacy audit");
  add_claim_options(options, choice);
  add_method_options(options, choice);
  options.add({"Output", "output", "DIR", "",
               "folder for audit.json, audit-histogram.csv and the picture audit.svg; it is made if it does not exist",
               setter::text(choice.output)});
  options.add({"Output", "json", "", "", "print one JSON object in place of tables", setter::flag(choice.json)});
  add_last_options(options, choice.progress, choice.print_config);
  return options;
}

/// Whether this process is one of several that a launcher has started.
bool among_others() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    if (const char* text = std::getenv(name); text != nullptr && std::atoi(text) > 1) return true;
  }
  return false;
}

/// One audit, from the claim to the report.
class AuditRun {
 public:
  explicit AuditRun(const AuditChoice& choice) : choice_(choice), progress_(choice.progress) {
    make_mechanism();
    report_.mechanism = choice.mechanism;
    report_.protocol = choice.of_omd ? "omd" : "none";
    report_.noise_key = choice.seeded ? "seed" : "random";
    report_.unit = mechanism_->unit();
    tick_ = [this] { progress_.tick(); };
  }

  AuditReport run() {
    if (choice_.of_omd) world_ = std::make_unique<World>();
    if (choice_.checks_itself) check_itself();
    if (choice_.one_run) {
      audit_one_run();
    } else {
      audit_pairs();
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is(const char* mechanism) const { return Spec::parse(choice_.mechanism).name() == mechanism; }
  void check_choice() const;
  void make_mechanism();
  [[nodiscard]] double chosen_price() const;
  [[nodiscard]] Charge claim();
  [[nodiscard]] AuditKeys keys() const { return choice_.seeded ? seed_audit_keys(choice_.seed) : random_audit_keys(); }
  [[nodiscard]] AuditSettings settings(std::size_t pairs) const;
  void check_itself();
  void audit_pairs();
  void audit_one_run();

  const AuditChoice& choice_;
  Progress progress_;
  AuditTick tick_;
  std::unique_ptr<World> world_;
  double price_ = 1;
  std::unique_ptr<Mechanism> mechanism_;
  AuditReport report_;
};

void AuditRun::check_choice() const {
  check(!choice_.mechanism.empty(), "no --mechanism is named (there is nothing to audit) choose one of: {}",
        mechanism_table().names());
  check(!choice_.mu || is("gaussian"), "--mu has no meaning for {} (it is a loss by Gaussian noise) give --epsilon",
        choice_.mechanism);
  check(!choice_.mu || !choice_.epsilon, "--mu and --epsilon are both given (one follows from the other) give one");
  check(!choice_.of_omd || !is("dissertation"),
        "--protocol omd with dissertation (it claims something of mean gradients that differ in one component, and no "
        "record makes them so) audit its release: leave out --protocol");
  check(!choice_.one_run || choice_.of_omd, "--run audits a run (of a protocol) add --protocol omd");
  check(!choice_.one_run || !choice_.output, "--output has nothing to draw for --run: leave it out, or take --json");
  check(!choice_.rounds || is("dissertation") || choice_.of_omd,
        "--rounds has no meaning for a release of {} (it knows no rounds) leave it out", choice_.mechanism);
  check(!choice_.of_omd || !among_others(),
        "--protocol omd starts its own clients in one process (several were started) leave out mpirun");
}

double AuditRun::chosen_price() const {
  if (choice_.mu) return *choice_.mu;
  const double epsilon = choice_.epsilon.value_or(1);
  return is("gaussian") ? gaussian_mu(epsilon, choice_.delta.value_or(delta_of_gaussian_claims)) : epsilon;
}

void AuditRun::make_mechanism() {
  check_choice();
  price_ = chosen_price();
  ReleaseSettings settings;
  settings.price = PriceRange::of(price_);
  settings.clip = choice_.clip;
  settings.unit = choice_.unit;
  settings.batch = choice_.batch;
  settings.dimension = choice_.dimension;
  settings.rounds = choice_.rounds.value_or(is("dissertation") ? 5 : 2);
  settings.run_id = "audit";
  mechanism_ = mechanism_table().make(choice_.mechanism, settings);
}

/// What is audited: of the dissertation's mechanism the dissertation's claim, which is not what starling charges.
Charge AuditRun::claim() {
  const Charge charge = mechanism_->charge(price_);
  if (charge.kind == ChargeKind::gaussian || charge.kind == ChargeKind::unbounded) return charge;
  if (charge.kind == ChargeKind::approximate) {
    report_.notes.push_back(fmt::format("starling itself charges epsilon = {:.6g} with delta = {:.6g} for this",
                                        charge.epsilon, charge.delta));
  }
  if (choice_.delta) return Charge::approximate(charge.epsilon, *choice_.delta);
  return charge.kind == ChargeKind::approximate ? Charge::pure(charge.epsilon) : charge;
}

AuditSettings AuditRun::settings(std::size_t pairs) const {
  AuditSettings settings;
  settings.samples = choice_.samples.value_or(choice_.of_omd ? samples_of_runs : samples_of_releases);
  settings.delta = choice_.delta.value_or(delta_of_gaussian_claims);
  settings.share = 1 / static_cast<double>(pairs);
  settings.tick = tick_;
  return settings;
}

void AuditRun::check_itself() {
  progress_.begin("the audit checks itself", {}, "observations");
  const std::string honest = is("gaussian") ? "gaussian" : "laplace";
  report_.self_check = choice_.of_omd ? check_protocol_audit(*world_, honest, random_audit_keys(), tick_)
                                      : check_audit(honest, random_audit_keys(), tick_);
  progress_.end();
}

void AuditRun::audit_pairs() {
  std::optional<OmdAudit> omd;
  std::vector<AuditSubject> subjects;
  if (choice_.of_omd) {
    omd.emplace(*world_, mechanism_->settings().rounds);
    subjects.push_back(omd->subject(*mechanism_, price_, keys()));
  } else {
    for (const NeighbouringSums& pair : neighbouring_sums(*mechanism_)) {
      subjects.push_back(release_subject(*mechanism_, price_, pair, keys()));
    }
  }
  const Charge claimed = claim();
  report_.expected = expected_bound(claimed, settings(subjects.size()));
  for (const AuditSubject& subject : subjects) {
    progress_.begin(subject.name, {}, "observations");
    report_.pairs.push_back(audit(subject, claimed, settings(subjects.size())));
    progress_.end();
  }
}

void AuditRun::audit_one_run() {
  OmdAudit omd(*world_, 2);
  const Round rounds = choice_.samples.value_or(canaries);
  const CanaryLog log = omd.run_with_canaries(*mechanism_, price_, keys()(0, 0), rounds);
  const Charge claimed = claim();
  report_.run = one_run_audit(log, claimed, choice_.delta.value_or(delta_of_gaussian_claims));
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  check<FailureError>(static_cast<bool>(file), "cannot write '{}' (check the folder and its permissions)", path);
}

/// Files of the report; a sentence if there is no picture.
std::string store(const AuditReport& report, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  check(!failed, "cannot make the folder '{}' ({}) name another with --output", folder, failed.message());
  write_file(folder + "/audit.json", to_json(report) + "\n");
  write_histogram(folder, report.worst().histogram);
  return draw_audit(folder, report.worst());
}

int run_choice(const AuditChoice& choice) {
  AuditReport report = AuditRun(choice).run();
  if (choice.output) {
    if (const std::string problem = store(report, *choice.output); !problem.empty()) report.notes.push_back(problem);
  }
  print(choice.json ? to_json(report) + "\n" : to_text(report));
  check<FailureError>(report.trusted(),
                      "the audit failed a check of itself (its verdict means nothing) see the checks above");
  return static_cast<int>(report.refuted() ? ExitCode::refuted : ExitCode::done);
}

}  // namespace

int run_privacy_audit(const std::vector<std::string>& words) {
  AuditChoice choice;
  Options options = audit_options(choice);
  options.parse(words);
  if (choice.print_config) {
    print(options.configuration());
    return 0;
  }
  return stoppable([&] { return run_choice(choice); });
}

std::string privacy_audit_help() {
  AuditChoice choice;
  return "usage: starling privacy audit --mechanism NAME [options]\n\n"
         "Runs the release of a mechanism, as a run does it, many times on neighbouring inputs at the clip's extremes, "
         "and\nprints a lower bound on the privacy loss (95 %) with the events that show it. The claim is refuted if "
         "the bound at\n99.9 % is above it. What is not refuted is not proved.\n\n"
         "Events are chosen on one half of the observations and judged on the other, by Clopper and Pearson's limits "
         "and\nBonferroni's correction. Of dissertation the noisy vector is audited, before it is divided by its "
         "length.\n"
         "Exit codes: 0 not refuted, 1 refuted, 2 usage, 5 the audit failed a check of itself, 75 stopped by a "
         "signal.\n" +
         audit_options(choice).help() + "\nMechanisms:\n" + mechanism_table().help() +
         "\nExamples:\n"
         "  starling privacy audit --mechanism laplace --epsilon 1 --output audit\n"
         "  starling privacy audit --mechanism dissertation --epsilon 0.1 --rounds 5\n"
         "  starling privacy audit --mechanism laplace --epsilon 1 --protocol omd --dimension 2 --batch 4\n";
}

}  // namespace starling
