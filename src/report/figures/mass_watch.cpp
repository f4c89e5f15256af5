#include "mass_watch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/view/summary_view.hpp"
#include "report/view/table_text.hpp"

namespace starling {

namespace {

constexpr Round rounds_looked_at = 1024;
constexpr Round rounds_between_looks = 16;
constexpr std::size_t most_named_masses = 10;
constexpr std::size_t numbers_of_one = 3;

void append(const SmallMass& mass, Vector& numbers) {
  numbers.insert(numbers.end(), {static_cast<double>(mass.client), mass.least, mass.share});
}

SmallMass read(View numbers) {
  return {static_cast<Client>(numbers[0]), numbers[1], numbers[2]};
}

/// Sorts by share, the largest first, and keeps ten.
void keep_longest(std::vector<SmallMass>& masses) {
  std::ranges::stable_sort(masses, [](const auto& a, const auto& b) { return a.share > b.share; });
  if (masses.size() > most_named_masses) masses.resize(most_named_masses);
}

Json mass_json(const SmallMass& mass) {
  return {{"client", mass.client}, {"least", number_json(mass.least)}, {"share_of_rounds", number_json(mass.share)}};
}

void write_keys(const SmallMasses& masses, Json& json) {
  json["least_mass"] = masses.least ? mass_json(*masses.least) : Json(nullptr);
  json["small_masses"] = {
      {"below", small_mass}, {"count", masses.count}, {"clients", json_list(masses.named, mass_json)}};
}

std::string rows_of_small_masses(const SummaryView& summary) {
  if (!summary.has("small_masses")) return "";
  SmallMasses masses;
  masses.count = summary.count("small_masses.count");
  for (const SummaryView& each : summary.list("small_masses.clients")) {
    masses.named.push_back(
        {static_cast<Client>(each.count("client")), each.number("least"), each.number("share_of_rounds")});
  }
  const std::string text = describe_small(masses);
  return text.empty() ? "" : table_row("small masses", text + fmt::format(", below {:g} of the average", small_mass));
}

}  // namespace

RecordedFigure small_masses_figure() {
  return {"small masses",
          [](const FigureSetup& setup) -> std::unique_ptr<FigureObserver> {
            if (!setup.mixing) return nullptr;
            return std::make_unique<MassWatch>(setup.first, *setup.mixing);
          },
          rows_of_small_masses, nullptr};
}

void MassWatch::after(const RoundView& view) {
  const Round done = view.done();
  if (done < next_) return;
  const View masses = view.masses();
  for (std::size_t k = 0; k < masses.size(); ++k) {
    const Client client = first_ + static_cast<Client>(k);
    if (!is_least(client, masses[k]) && masses[k] >= small_mass) continue;
    if (!view.was_present(k) && !view.stepped(k)) continue;
    keep_least(client, masses[k]);
    if (masses[k] < small_mass) note(k, masses[k], done - seen_);
  }
  seen_ = done;
  next_ = done + (done < rounds_looked_at ? 1 : rounds_between_looks);
}

bool MassWatch::is_least(Client client, double mass) const {
  return mass < least_of_all_ || (mass == least_of_all_ && client < who_);
}

void MassWatch::keep_least(Client client, double mass) {
  if (!is_least(client, mass)) return;
  least_of_all_ = mass;
  who_ = client;
}

void MassWatch::note(std::size_t k, double mass, Round rounds) {
  if (k >= rounds_below_.size()) {
    rounds_below_.resize(k + 1, 0);
    least_.resize(k + 1, 1.0);
  }
  rounds_below_[k] += rounds;
  least_[k] = std::min(least_[k], mass);
}

// The least mass of all may not be small, so it is kept with its client.
void MassWatch::persist(Snapshot& snapshot) {
  struct Entry {
    Client client = 0;
    Round rounds = 0;
    double least = 1;
    void persist(Snapshot& entry) { entry(client, rounds, least); }
  };
  const auto client_of = [](const Entry& entry) { return entry.client; };
  std::vector<Entry> small;
  for (std::size_t k = 0; k < rounds_below_.size() && !snapshot.reading(); ++k) {
    if (rounds_below_[k] > 0) small.push_back({first_ + static_cast<Client>(k), rounds_below_[k], least_[k]});
  }
  std::vector<Entry> least;
  if (who_ >= 0) least.push_back({who_, 0, least_of_all_});
  snapshot(next_, seen_);
  snapshot.by_client(small, client_of);
  snapshot.by_client(least, client_of);
  if (!snapshot.reading()) return;
  for (const Entry& each : small) note(static_cast<std::size_t>(each.client - first_), each.least, each.rounds);
  for (const Entry& each : least) keep_least(each.client, each.least);
}

SmallMass MassWatch::of(std::size_t k) const {
  return {first_ + static_cast<Client>(k), least_[k],
          static_cast<double>(rounds_below_[k]) / static_cast<double>(std::max<Round>(seen_, 1))};
}

SmallMasses MassWatch::small_masses(Agreement& agreement) const {
  std::vector<SmallMass> named;
  for (std::size_t k = 0; k < rounds_below_.size(); ++k) {
    if (of(k).share >= long_share) named.push_back(of(k));
  }
  Vector numbers{static_cast<double>(named.size())};
  keep_longest(named);
  const bool was_small = who_ >= 0 && !rounds_below_.empty() && least_of_all_ < small_mass;
  append(was_small ? of(static_cast<std::size_t>(who_ - first_)) : SmallMass{who_, least_of_all_, 0}, numbers);
  for (const SmallMass& each : named) append(each, numbers);

  SmallMasses result;
  for (const Vector& of_rank : agreement.gather(Released<Vector>(declare_public(std::move(numbers))))) {
    View rest = of_rank;
    result.count += static_cast<std::int64_t>(rest[0]);
    const SmallMass least = read(rest.subspan(1));
    if (least.client >= 0 && (!result.least || least.least < result.least->least)) result.least = least;
    for (rest = rest.subspan(1 + numbers_of_one); !rest.empty(); rest = rest.subspan(numbers_of_one)) {
      result.named.push_back(read(rest));
    }
  }
  keep_longest(result.named);
  return result;
}

FigureResult MassWatch::gather(Agreement& agreement) const {
  SmallMasses masses = small_masses(agreement);
  FigureResult result;
  if (masses.count > 0) result.notes.push_back(note_on_small_masses(masses));
  result.write = [masses = std::move(masses)](Json& json) { write_keys(masses, json); };
  return result;
}

std::string describe_small(const SmallMasses& masses) {
  std::string text;
  for (const SmallMass& each : masses.named) {
    text += fmt::format("{}client {} in {:.3g} % of the rounds ({:.2g} at least)", text.empty() ? "" : ", ",
                        each.client, 100 * each.share, each.least);
  }
  const auto more = masses.count - static_cast<std::int64_t>(masses.named.size());
  return more > 0 ? text + fmt::format(", and {} more", more) : text;
}

std::string note_on_small_masses(const SmallMasses& masses) {
  return fmt::format(
      "small masses: below a thousandth of the average was that of {}. Hardly anything reaches these clients, and "
      "their models are of little use. Give them more in-edges, fewer absences or losses among their neighbours, or a "
      "share to keep (--lazy).",
      describe_small(masses));
}

}  // namespace starling
