#include "owners_release.hpp"

#include <fstream>
#include <gnu/libc-version.h>
#include <set>
#include <sstream>

#include "console/version.hpp"
#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/per_client.hpp"
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

bool is_of_histograms(const std::string& run_id) {
  return run_id.ends_with(end_of_norms) || run_id.ends_with(end_of_features);
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

}  // namespace starling
