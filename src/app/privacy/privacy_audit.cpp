#include <algorithm>
#include <filesystem>
#include <iterator>

#include "app/commands.hpp"
#include "audit_choice.hpp"
#include "audit_paper.hpp"
#include "audit_protocol.hpp"
#include "audit_report.hpp"
#include "console/pass.hpp"
#include "console/print.hpp"
#include "files/text_files.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/audit/chain_subject.hpp"
#include "privacy/audit/pairs_audit.hpp"
#include "privacy/mechanism/pair_keys.hpp"
#include "privacy/pairs/pair_price.hpp"
#include "privacy/statement/statement.hpp"
#include "report/pictures/pictures.hpp"
#include "run/launch.hpp"

namespace starling {

namespace {

constexpr std::int64_t samples_of_releases = 1'000'000;
constexpr std::int64_t samples_of_runs = 100'000;
constexpr Round releases_of_chain = 16;
constexpr std::int64_t canaries = 100'000;
constexpr const char* paper = "private-paper";
constexpr std::int64_t samples_of_pairs = 10'000;
constexpr std::int64_t clients_of_pairs = 4;

const char* name_of(AuditTrust trust) {
  switch (trust) {
    case AuditTrust::central:
      return "central";
    case AuditTrust::masked:
      return "masked";
    case AuditTrust::pairs:
      return "pairs";
    case AuditTrust::none:
      break;
  }
  return "none";
}

/// One audit, from the claim to the report.
class AuditRun {
 public:
  explicit AuditRun(const AuditChoice& choice)
      : choice_(choice), row_(row_of(choice.mechanism)), progress_(choice.progress) {
    check_choice();
    make_protection();
    report_.mechanism = choice.mechanism;
    report_.protocol = choice.of_omd ? "omd" : "none";
    report_.noise_key = choice.seeded ? "seed" : "random";
    report_.trust = name_of(choice.trust);
    report_.clients = clients();
    report_.correlation = protection_->settings().correlation;
    report_.unit = protection_->unit();
    tick_ = [this] { progress_.tick(); };
  }

  AuditReport run() {
    if (choice_.of_omd) world_ = std::make_unique<World>();
    if (choice_.one_run) {
      audit_one_run();
    } else {
      audit_pairs();
    }
    return std::move(report_);
  }

 private:
  /// Null for private-paper, which is no mechanism, and without any name.
  static const MechanismRow* row_of(const std::string& mechanism) {
    return mechanism.empty() || mechanism == paper ? nullptr : &mechanism_table().row(mechanism);
  }
  [[nodiscard]] bool is_paper() const { return choice_.mechanism == paper; }
  [[nodiscard]] bool gaussian() const { return row_ != nullptr && row_->gaussian(); }
  [[nodiscard]] bool depends_on_rounds() const { return row_ != nullptr && row_->depends_on_rounds; }
  [[nodiscard]] bool of_pairs() const { return choice_.trust == AuditTrust::pairs; }
  /// Whether all releases of a chain are seen, by themselves.
  [[nodiscard]] bool of_chain() const { return choice_.correlated && !choice_.of_omd && !of_pairs(); }
  [[nodiscard]] Round rounds() const;
  [[nodiscard]] std::int64_t clients() const {
    if (choice_.trust == AuditTrust::none) return 1;
    return choice_.clients.value_or(of_pairs() ? clients_of_pairs : 2);
  }
  [[nodiscard]] Mechanism& mechanism() { return dynamic_cast<Mechanism&>(*protection_); }
  void check_choice() const;
  void make_protection();
  void make_paper();
  void share_in_pairs(ReleaseSettings& settings);
  [[nodiscard]] double chosen_price() const;
  [[nodiscard]] Charge claim();
  [[nodiscard]] AuditKeys keys() const { return choice_.seeded ? seed_audit_keys(choice_.seed) : random_audit_keys(); }
  [[nodiscard]] AuditSettings settings(std::size_t pairs) const;
  [[nodiscard]] std::vector<AuditSubject> subjects(std::optional<OmdAudit>& omd);
  void audit_pairs();
  void audit_one_run();

  const AuditChoice& choice_;
  const MechanismRow* row_;
  Progress progress_;
  AuditTick tick_;
  std::unique_ptr<World> world_;
  double price_ = 1;
  std::unique_ptr<Protection> protection_;
  PairsAuditPlan pairs_;
  std::optional<PairsAudit> of_pairs_;
  AuditReport report_;
};

void AuditRun::check_choice() const {
  check(!choice_.mechanism.empty(), "no --mechanism is named: there is nothing to audit. Choose one of: {}",
        mechanism_table().names());
  check(!choice_.mu || gaussian(), "--mu has no meaning for {}: it is a loss by Gaussian noise. Give --epsilon.",
        choice_.mechanism);
  check(!choice_.of_omd || row_ == nullptr || !row_->about_means,
        "--protocol omd with {}: it claims something about means that differ in one component, and no record brings "
        "that about. Audit its release: leave out --protocol.",
        choice_.mechanism);
  check(!choice_.rounds || depends_on_rounds() || choice_.of_omd || choice_.correlated || of_pairs() || is_paper(),
        "--rounds has no meaning for a release of {}: it knows no rounds. Leave it out.", choice_.mechanism);
  check(!is_paper() || choice_.dimension <= most_paper_features,
        "--dimension {} with private-paper: its audit solves for 1 to {} features. Give fewer.", choice_.dimension,
        most_paper_features);
  check(!choice_.of_omd || launched_ranks() <= 1,
        "--protocol omd starts its own clients in one process: several were started. Leave out mpirun.");
}

double AuditRun::chosen_price() const {
  if (choice_.mu) return *choice_.mu;
  const double epsilon = choice_.epsilon.value_or(1);
  return gaussian() ? gaussian_mu(epsilon, choice_.delta.value_or(usual_delta)) : epsilon;
}

/// Rounds of a run or, of a chain, of one pass.
Round AuditRun::rounds() const {
  if (choice_.rounds) return *choice_.rounds;
  if (depends_on_rounds()) return 5;
  return of_chain() ? releases_of_chain : 2;
}

void AuditRun::make_protection() {
  if (is_paper()) return make_paper();
  price_ = chosen_price();
  ReleaseSettings settings;
  settings.price = PriceRange::of(price_);
  settings.clip = choice_.clip;
  settings.unit = choice_.unit;
  settings.batch = choice_.batch;
  settings.dimension = choice_.dimension;
  settings.rounds = rounds();
  if (choice_.correlated) {
    settings.correlation =
        best_correlation(choice_.one_run ? choice_.samples.value_or(canaries) : settings.rounds, choice_.epochs);
  }
  settings.run_id = "audit";
  if (choice_.trust == AuditTrust::masked) {
    protection_ = std::make_unique<MaskedGaussian>(settings, clients());
    return;
  }
  if (of_pairs()) {
    share_in_pairs(settings);
  } else {
    settings.clients = static_cast<std::size_t>(clients());
    settings.batch *= settings.clients;
  }
  protection_ = mechanism_table().make(choice_.mechanism, settings);
}

/// Pairs of all clients, with keys as a run agrees on them.
void AuditRun::share_in_pairs(ReleaseSettings& settings) {
  const auto clients = static_cast<Client>(this->clients());
  pairs_.graph = PairGraph::all(clients);
  pairs_.colluding = choice_.colluding;
  pairs_.rounds = settings.rounds * choice_.epochs;
  check(
      static_cast<std::size_t>(choice_.colluding) < pairs_.graph.least_degree(),
      "--collusion {} of {} clients: nobody but a client's own noise would hide it. Lower it, or take more --clients.",
      choice_.colluding, clients);
  std::vector<MaskKey> own;
  std::vector<MaskKey::Bytes> shown;
  for (Client u = 0; u < clients; ++u) shown.push_back(own.emplace_back(MaskKey::random()).public_key());
  for (Client u = 0; u < clients; ++u) {
    pairs_.ends[u] = ends_of_client(u, own[static_cast<std::size_t>(u)], shown, pairs_.graph, settings.run_id, "audit");
  }
  const double ratio = least_ratio(pairs_.graph, choice_.colluding);
  const double hidden = exposure(pairs_.graph, ratio, choice_.colluding);
  settings.pairs = std::make_shared<PairNoise>(PairTerms::of(pairs_.graph, ratio, hidden), pairs_.ends);
}

void AuditRun::make_paper() {
  PaperTerms terms;
  terms.epsilon = choice_.epsilon.value_or(1);
  terms.delta = choice_.delta.value_or(usual_delta);
  terms.lambda = choice_.l2.value_or(0.1);
  terms.c2 = choice_.c2.value_or(1);
  terms.rho = choice_.rho.value_or(0);
  ReleaseSettings settings;
  settings.batch = choice_.batch;
  settings.dimension = choice_.dimension + 1;
  settings.run_id = "audit";
  auto made = std::make_unique<PaperPerturbation>(settings, terms);
  if (!made->condition_2(static_cast<double>(choice_.batch))) {
    report_.notes.push_back("the paper's condition 2 does not hold for the first batch: larger --batch, --l2 or --rho");
  }
  protection_ = std::move(made);
}

/// The audited claim. The dissertation's mechanism is audited against the dissertation's claim, which is less than
/// starling charges.
Charge AuditRun::claim() {
  if (is_paper()) return Charge::approximate(choice_.epsilon.value_or(1), choice_.delta.value_or(usual_delta));
  if (of_pairs_) return of_pairs_->claim();
  if (of_chain()) return chain_claim(mechanism(), price_);
  const Charge charge = protection_->charge(price_);
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
  settings.samples = choice_.samples.value_or(of_pairs()                                   ? samples_of_pairs
                                              : choice_.of_omd || of_chain() || is_paper() ? samples_of_runs
                                                                                           : samples_of_releases);
  settings.delta = choice_.delta.value_or(usual_delta);
  settings.share = 1 / static_cast<double>(pairs);
  settings.tick = tick_;
  return settings;
}

std::vector<AuditSubject> AuditRun::subjects(std::optional<OmdAudit>& omd) {
  if (is_paper()) {
    const PaperStream stream{choice_.dimension, choice_.batch, choice_.rounds.value_or(10),
                             choice_.row_norm.value_or(7)};
    return {paper_subject(dynamic_cast<PaperPerturbation&>(*protection_), stream, keys())};
  }
  if (choice_.of_omd) {
    omd.emplace(*world_, protection_->settings().rounds);
    return {omd->subject(mechanism(), price_, keys())};
  }
  std::vector<AuditSubject> subjects;
  if (of_pairs()) {
    of_pairs_.emplace(mechanism(), price_, pairs_, keys());
    for (Client u = 0; u < pairs_.graph.clients(); ++u) {
      std::ranges::move(of_pairs_->subjects(u), std::back_inserter(subjects));
    }
    report_.sum = of_pairs_->sum();
    return subjects;
  }
  if (of_chain()) {
    for (const ChainPlan& plan : chain_plans(*protection_->settings().correlation, rounds() * choice_.epochs)) {
      subjects.push_back(chain_subject(mechanism(), price_, plan, keys()));
    }
    return subjects;
  }
  for (const NeighbouringSums& pair : neighbouring_sums(*protection_)) {
    subjects.push_back(choice_.trust == AuditTrust::masked
                           ? masked_subject(dynamic_cast<MaskedGaussian&>(*protection_), price_, pair, keys())
                           : release_subject(mechanism(), price_, pair, keys()));
  }
  return subjects;
}

void AuditRun::audit_pairs() {
  std::optional<OmdAudit> omd;
  const std::vector<AuditSubject> subjects = this->subjects(omd);
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
  const CanaryLog log = omd.run_with_canaries(mechanism(), price_, keys()(0, 0), rounds);
  const Charge claimed = claim();
  report_.run = one_run_audit(log, claimed, choice_.delta.value_or(usual_delta));
}

/// Files of the report; a sentence if there is no picture.
std::string store(const AuditReport& report, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  check(!failed, "cannot make the folder '{}': {}. Name another with --output.", folder, failed.message());
  write_text(folder + "/audit.json", to_json(report) + "\n");
  write_histogram(folder, report.worst().histogram);
  return draw_audit(folder, report.worst());
}

int run_choice(const AuditChoice& choice) {
  AuditReport report = AuditRun(choice).run();
  if (choice.output) {
    if (const std::string problem = store(report, *choice.output); !problem.empty()) report.notes.push_back(problem);
  }
  print(choice.json ? to_json(report) + "\n" : to_text(report));
  return static_cast<int>(report.refuted() ? ExitCode::refuted : ExitCode::done);
}

int run_privacy_audit(const Call& call) {
  const auto choice = parsed<AuditChoice, audit_options>(call.words);
  return stoppable([&] { return run_choice(choice); });
}

Manual privacy_audit_manual() {
  return {.usage = "--mechanism NAME [OPTIONS]",
          .text =
              "Runs the release of a mechanism, as a run does it, many times on neighbouring inputs at the clip's "
              "extremes, and prints a lower bound on the privacy loss (95 %) with the events that show it. The claim "
              "is refuted if the bound at 99.9 % is above it. What is not refuted is not proved.\n"
              "\n"
              "Events are chosen on one half of the observations and judged on the other, by Clopper and Pearson's "
              "limits and Bonferroni's correction. Of dissertation the noisy vector is audited, before it is divided "
              "by its length. With --noise-correlation all releases of a client are seen: a record of round t shows in "
              "all later ones. An observer's best statistic of them is looked at, and what is seen where a client goes "
              "on with other data after a crash. With --trust the sum over all clients is audited, as rank 0 releases "
              "or reads it; with --trust pairs the releases of all clients, less what a coalition knows of their "
              "noise, and whether pairs cancel in the sum. Of private-paper all models of a stream are seen, whose "
              "first record has one label or the other: its paper's claim is for each of them. Exit codes: 0 not "
              "refuted, 1 refuted, 2 usage, 75 stopped by a signal.",
          .examples = {"starling privacy audit --mechanism laplace --epsilon 1 --output audit",
                       "starling privacy audit --mechanism dissertation --epsilon 0.1 --rounds 5",
                       "starling privacy audit --mechanism laplace --epsilon 1 --protocol omd --dimension 2 --batch 4",
                       "starling privacy audit --mechanism gaussian --mu 0.5 --trust masked --clients 3",
                       "starling privacy audit --mechanism gaussian --mu 1 --noise-correlation blt:2 --rounds 16",
                       "starling privacy audit --mechanism gaussian --mu 1 --trust pairs --clients 5 --collusion 2",
                       "starling privacy audit --mechanism private-paper --epsilon 0.8 --batch 20 --rounds 10"}};
}

}  // namespace

Command privacy_audit_command() {
  return command_of<AuditChoice, audit_options>("audit", "a lower bound on the loss of what is really released",
                                                privacy_audit_manual, run_privacy_audit);
}

}  // namespace starling
