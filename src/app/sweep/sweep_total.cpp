#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/check.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "report/view/run_reading.hpp"
#include "sweep.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;
using Charges = std::vector<ChargeGroup>;

PrivacyLoss composed(const Charges& charges) {
  return compose(charges, default_delta(charges));
}

/// Charges to one record and to the owner of all records of a client, of the client who paid most.
struct Dearest {
  Charges record;
  Charges client;

  void take(const LedgerBook& book) {
    for (const ClientRange& clients : book.cohorts()) {
      take_dearer(record, book.spent(clients.first, LossLevel::record));
      take_dearer(client, book.spent(clients.first, LossLevel::client));
    }
  }
  void add(const Dearest& other) {
    record.insert(record.end(), other.record.begin(), other.record.end());
    client.insert(client.end(), other.client.begin(), other.client.end());
  }

 private:
  static void take_dearer(Charges& dearest, Charges other) {
    if (dearest.empty() || composed(dearest).epsilon < composed(other).epsilon) dearest = std::move(other);
  }
};

std::string loss_text(const Charges& charges) {
  const PrivacyLoss loss = composed(charges);
  if (!std::isfinite(loss.epsilon)) return "unbounded";
  return loss.delta > 0 ? fmt::format("epsilon {:.6g} at delta {:.3g}", loss.epsilon, loss.delta)
                        : fmt::format("epsilon {:.6g}", loss.epsilon);
}

std::string price_text(const Dearest& dearest) {
  return fmt::format("a record has paid {}; the owner of all records of a client {}", loss_text(dearest.record),
                     loss_text(dearest.client));
}

Dearest dearest_in(const std::vector<std::string>& ledgers) {
  Dearest dearest;
  for (const std::string& path : ledgers) {
    const LedgerReading reading = read_ledger(path);
    check<DataError>(!reading.damage,
                     "'{}' is damaged: the sweep's price cannot be told. See starling privacy ledger {}.", path, path);
    dearest.take(reading.book);
  }
  return dearest;
}

/// The ledgers that a run keeps in its directory.
std::vector<std::string> own_ledgers(const std::string& run) {
  std::vector<std::string> ledgers;
  std::error_code error;
  for (const auto& rank : fs::directory_iterator(run + "/private", error)) {
    const fs::path ledger = rank.path() / "ledger";
    if (fs::is_regular_file(ledger, error)) ledgers.push_back(ledger.string());
  }
  std::ranges::sort(ledgers);
  return ledgers;
}

/// The files that ledger-{client} stands for.
std::vector<std::string> shared_ledgers(const std::string& name) {
  constexpr std::string_view place = "{client}";
  const auto at = name.find(place);
  if (at == std::string::npos) return {name};
  std::vector<std::string> ledgers;
  for (int client = 0;; ++client) {
    std::string file = name;
    file.replace(at, place.size(), fmt::format("{}", client));
    if (!fs::exists(file)) return ledgers;
    ledgers.push_back(std::move(file));
  }
}

std::string value_of(const std::map<std::string, std::string>& configuration, const std::string& key) {
  const auto found = configuration.find(key);
  return found == configuration.end() ? "" : found->second;
}

}  // namespace

std::string total_price(const std::vector<std::string>& runs) {
  std::set<std::string> ledgers;
  std::map<std::string, std::pair<int, Dearest>> sources;
  for (const std::string& run : runs) {
    const auto configuration = read_configuration(run);
    const std::string source = value_of(configuration, "source");
    if (const std::string ledger = value_of(configuration, "ledger"); !ledger.empty()) {
      ledgers.insert(ledger);
    } else if (const auto own = own_ledgers(run); !own.empty() && !source.starts_with("synthetic")) {
      auto& [count, dearest] = sources[source];
      ++count;
      dearest.add(dearest_in(own));
      for (int i = 1; fs::exists(place_aside(run, i)); ++i) dearest.add(dearest_in(own_ledgers(place_aside(run, i))));
    }
  }
  std::string text;
  for (const std::string& ledger : ledgers) {
    const auto files = shared_ledgers(ledger);
    if (files.empty()) continue;
    text += fmt::format("Price      {}: {} (all runs that the ledger knows)\n", ledger, price_text(dearest_in(files)));
  }
  for (const auto& [source, paid] : sources) {
    text += fmt::format("Price      {}: {} ({} together, whose ledgers are their own)\n", source,
                        price_text(paid.second), paid.first == 1 ? "1 run" : fmt::format("{} runs", paid.first));
  }
  return text;
}

}  // namespace starling
