#include "owners_ledgers.hpp"

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

std::string build_that_matters() {
  return version() + "\n" + build_digest() + "\n" + gnu_get_libc_version() + "\n" + cpu() + "\n";
}

std::string determination_of(Agreement& agreement, const std::string& matter, const std::vector<NoiseKey>& keys,
                             const std::vector<std::string>& data, bool replayable) {
  std::string own;
  agreement.together([&] {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      own += keys[k].commitment(sha256(matter) + (data.size() == 1 ? data.front() : data[k]));
    }
  });
  Sha256 all;
  all.add(matter);
  for (const std::string& each : agreement.all_gather(declare_public(std::move(own)))) all.add(each);
  return replayable ? all.digest() : "";  // ranks may differ in that: some read pipes
}

std::vector<Ledger> open_owners_ledgers(const std::string& path, const Layout& layout, int rank) {
  std::vector<Ledger> ledgers;
  const Client first = layout.first(rank);
  const Client count = layout.count(rank);
  if (is_per_client(path)) {
    ledgers.reserve(static_cast<std::size_t>(count));
    for (Client u = first; u < first + count; ++u) ledgers.push_back(Ledger::open(name_of_client(path, u)));
    return ledgers;
  }
  check(layout.count(0) == layout.clients(),
        "--ledger '{}' is one file for clients on several ranks: each rank writes its own. Name files like "
        "ledger-{{client}}",
        path);
  if (count > 0) ledgers.push_back(Ledger::open(path));
  return ledgers;
}

std::string unfinished_in_all(Agreement& agreement, const Layout& layout, const std::vector<Ledger>& ledgers,
                              const std::string& determined_by) {
  std::string found;
  for (std::size_t i = 0; i < ledgers.size(); ++i) {
    const std::string here = ledgers[i].unfinished(determined_by).value_or("");
    found = i == 0 || here == found ? here : "";
  }
  const std::vector<std::string> of_ranks = agreement.all_gather(declare_public(found));
  std::set<std::string> ids;
  for (int r = 0; r < layout.ranks(); ++r) {
    if (layout.count(r) > 0) ids.insert(of_ranks[static_cast<std::size_t>(r)]);
  }
  return ids.size() == 1 ? *ids.begin() : "";
}

std::string configuration_that_matters(const std::string& configuration) {
  std::string result;
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    if (effect_of(line.substr(0, line.find(' '))) == Option::Effect::results) result += line + "\n";
  }
  return result;
}

}  // namespace starling
