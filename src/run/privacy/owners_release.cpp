#include "owners_release.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <gnu/libc-version.h>
#include <set>
#include <sstream>

#include "console/version.hpp"
#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "net/agreement.hpp"
#include "noise_keys.hpp"
#include "output/directory/owners_file.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/pairs/pair_noise.hpp"
#include "privacy/pairs/pair_terms.hpp"
#include "run/privacy/pairs/run_pair_keys.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

namespace {

std::string cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line;
  }
  return "unknown";
}

}  // namespace

OwnersRelease::OwnersRelease(Agreement& agreement, const Layout& layout, const PrivacyOptions& options, RunFacts facts)
    : agreement_(agreement), layout_(layout), options_(options), facts_(std::move(facts)) {}

OwnersRelease::~OwnersRelease() = default;

NoiseKeyPolicy OwnersRelease::key_policy() const {
  return noise_key_policy(options_.noise_key);
}

Client OwnersRelease::first() const {
  return layout_.first(agreement_.rank());
}

Client OwnersRelease::count() const {
  return layout_.count(agreement_.rank());
}

void OwnersRelease::open_own_ledger(const std::string& folder) {
  ledgers_.push_back(Ledger::open(folder + "/ledger"));
}

bool is_of_histograms(const std::string& run_id) {
  const auto is_end = [&](const char* end) { return run_id.ends_with(end); };
  return is_end(end_of_norms) || is_end(end_of_features) || std::ranges::any_of(ends_of_looks, is_end);
}

std::string configuration_that_matters(const std::string& configuration) {
  std::string result;
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    if (effect_of(line.substr(0, line.find(' '))) == Option::Effect::results) result += line + "\n";
  }
  return result;
}

ClientRange OwnersRelease::clients_of(std::size_t i) const {
  const bool shared = ledgers_.size() < static_cast<std::size_t>(count());
  return shared ? ClientRange(first(), first() + count() - 1) : client(i);
}

std::string OwnersRelease::matter(const std::string& more) const {
  return fmt::format("{}{}\n{}\n{}{}\n{}\n{}\n{}\n", configuration_that_matters(facts_.configuration),
                     facts_.public_inputs, prices_->text(), more, version(), build_digest(), gnu_get_libc_version(),
                     cpu());
}

std::string OwnersRelease::digest_of(const std::string& matter, const std::vector<NoiseKey>& keys,
                                     const std::vector<std::string>& data) const {
  std::string own;
  agreement_.together([&] {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      own += keys[k].commitment(sha256(matter) + (data.size() == 1 ? data.front() : data[k]));
    }
  });
  Sha256 all;
  all.add(matter);
  for (const std::string& each : agreement_.all_gather(declare_public(std::move(own)))) all.add(each);
  return facts_.replayable ? all.digest() : "";  // ranks may differ in that: some read pipes
}

void OwnersRelease::open_owners_ledgers() {
  const std::string& path = *options_.ledger;
  if (is_per_client(path)) {
    ledgers_.reserve(static_cast<std::size_t>(count()));
    for (Client u = first(); u < first() + count(); ++u) ledgers_.push_back(Ledger::open(name_of_client(path, u)));
    return;
  }
  check(layout_.count(0) == layout_.clients(),
        "--ledger '{}' is one file for clients on several ranks: each rank writes its own. Name files like "
        "ledger-{{client}}",
        path);
  if (count() > 0) ledgers_.push_back(Ledger::open(path));
}

void OwnersRelease::settle_run_id(const std::string& end) {
  std::string found;
  for (std::size_t i = 0; i < ledgers_.size(); ++i) {
    const std::string here = ledgers_[i].unfinished(determined_by_).value_or("");
    found = i == 0 || here == found ? here : "";
  }
  const std::vector<std::string> of_ranks = agreement_.all_gather(declare_public(found));
  std::set<std::string> ids;
  for (int r = 0; r < layout_.ranks(); ++r) {
    if (layout_.count(r) > 0) ids.insert(of_ranks[static_cast<std::size_t>(r)]);
  }
  taken_up_ = ids.size() == 1 && !ids.begin()->empty();
  run_id_ = taken_up_ ? *ids.begin() : make_run_id(agreement_, key_policy(), facts_.seed) + end;
}

void OwnersRelease::agree_on_pairs(const PairTerms& terms, PairRounds rounds) {
  // Keys of a seed hide nothing, and give the same noise wherever the run is repeated.
  const std::string attempt = key_policy() == NoiseKeyPolicy::seed ? "" : determined_by_;
  PairKeys keys = agree_on_pair_keys(agreement_, layout_, facts_.pairs->graph(), keys_, run_id_, attempt,
                                     facts_.introductions.get());
  pair_noise_ = std::make_shared<PairNoise>(terms, std::move(keys.ends), std::move(rounds));
  public_keys_of_pairs_ = std::move(keys.public_keys);
  const auto lists = agreement_.all_gather(declare_public(fingerprint(public_keys_of_pairs_)));
  agreement_.together([&] {
    check<DataError>(std::ranges::adjacent_find(lists, std::not_equal_to()) == lists.end(),
                     "ranks received different public keys for their pairs: whoever relays them exchanged some. Do not "
                     "go on.");
  });
}

void OwnersRelease::store_public_keys_of_pairs(const std::string& path) const {
  if (count() == 0) return;
  OwnersFile::replace(path, Secret<std::string>(list_of_keys(public_keys_of_pairs_, "pairs")));
}

LedgerRun OwnersRelease::new_run(const ClientRange& clients) const {
  LedgerRun run;
  run.id = run_id_;
  run.version = version();
  run.mechanism = *options_.mechanism;
  run.unit = options_.unit;
  run.determined_by = determined_by_;
  run.clients = {clients};
  return run;
}

const Ledger& OwnersRelease::ledger_of(Client u) const {
  return ledgers_[ledgers_.size() == 1 ? 0 : static_cast<std::size_t>(u - first())];
}

bool OwnersRelease::affords(Client u, const Budget& budget, const PlannedCharges& planned) const {
  const auto of_members = [](const Charge& charge, std::int64_t members) {
    return of_group(charge, static_cast<double>(members)).value_or(Charge::unbounded());
  };
  std::int64_t counted = 1;
  std::int64_t in_batch = 1;
  Round rounds = options_.total_epsilon ? planned.passes : 1;
  if (budget.of_client) {
    const Round of_pass = std::max<Round>(planned.of_pass, 1);
    counted = planned.counted;
    in_batch = std::max<std::int64_t>((planned.records - 1) / of_pass + 1, 1);
    if (options_.total_epsilon) rounds *= of_pass;
  }
  const LossLevel level = budget.of_client ? LossLevel::client : level_of(options_.unit);
  std::vector<ChargeGroup> groups = ledger_of(u).book().spent(u, level);
  if (planned.at_once) groups.push_back({of_members(*planned.at_once, counted), 1});
  groups.push_back({of_members(planned.of_round, in_batch), rounds});
  return compose(groups, budget.delta.value_or(default_delta(groups))).epsilon <= budget.epsilon;
}

Reservation OwnersRelease::at_once(Client u, const Charge& charge, const char* of) {
  Reservation row;
  row.clients = u;
  row.records = "all, at once";
  row.passes = {{1, charge}};
  row.charges = {{charge, 1}};
  row.digest = fmt::format("Poly1305 of the {}, into the start of a ChaCha20 stream", of);
  return row;
}

}  // namespace starling
