#include "schedule_options.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "graph/analysis/separation.hpp"
#include "graph/graph.hpp"
#include "graph/overlays/overlays.hpp"
#include "protocol/decentralized/settings.hpp"

namespace starling {

namespace {

bool is_drawn(const std::string& model) {
  const std::string name = Spec::parse(model).name();
  const auto& rows = absence_table().rows();
  return std::ranges::any_of(rows, [&](const auto& row) { return row.name == name; });
}

}  // namespace

std::unique_ptr<AbsenceModel> absences_of(const ScheduleOptions& options, Client clients, std::uint64_t seed) {
  const std::string& model = options.dropout_model;
  if (!is_drawn(model)) {
    check(std::filesystem::exists(model), "--dropout-model {}: neither a file nor one of the models: {}. Correct it.",
          model, absence_table().names());
    check(!options.dropout, "--dropout {} beside the absences that {} lists: they are what they are. Leave one out.",
          options.dropout.value_or(""), model);
    return read_absences(model, clients);
  }
  check(options.dropout.has_value() || model == "uniform",
        "--dropout-model {} without --dropout: how often do clients sit out?. Give a share: --dropout 0.2.", model);
  if (!options.dropout) return nullptr;
  const Dropout dropout{parse_dropout(*options.dropout, clients), seed};
  auto absences = absence_table().make(model, dropout);
  const bool never = std::ranges::max(dropout.shares) <= 0;
  return never ? nullptr : std::move(absences);
}

namespace {

/// "client 3", "clients 3, 5 and 12 others".
std::string listed(const std::vector<Client>& clients, std::string_view noun) {
  constexpr std::size_t most = 8;
  std::string text = fmt::format("{}{}", noun, clients.size() == 1 ? "" : "s");
  const std::size_t shown = clients.size() <= most + 1 ? clients.size() : most;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}{}", i == 0 ? " " : ", ", clients[i]);
  if (shown < clients.size()) text += fmt::format(" and {} others", clients.size() - shown);
  return text;
}

std::string text_of(const Separation& separation, const GraphSample& sample) {
  constexpr std::size_t most = 4;
  std::string parts;
  for (std::size_t i = 0; i < std::min(most, separation.components.size()); ++i) {
    parts += fmt::format("{}{}", i == 0 ? "" : "; ", listed(separation.components[i], "client"));
  }
  if (separation.components.size() > most) parts += fmt::format("; and {} more", separation.components.size() - most);
  return fmt::format(
      "--leave: from round {} on, without {}, the others fall into {} components ({}): between two of them messages go "
      "one way at most{}, and their models no longer agree. Add edges that go round who leaves.",
      separation.round, listed(separation.leaving, "client"), separation.components.size(), parts,
      sample.rounds() ? fmt::format(" (in the first {} rounds of this graph, which never repeats)", *sample.rounds())
                      : "");
}

}  // namespace

void add_dropout_options(Options& options, ScheduleOptions& settings) {
  options.add(
      option("dropout", "P",
             "share of rounds that clients sit out: a number, a list with one for each, or clients:FILE with lines "
             "client,share",
             {.unit = "share of rounds, 0 to 1", .example = "0.2", .unstated = "0", .files = named::spec}),
      settings.dropout);
  options.add(
      option("dropout-model", "MODEL", "how absences come, or a file that lists them in lines round,client",
             {.values = [] { return values_of("Models of dropout", absence_table()); }, .files = named::absences}),
      settings.dropout_model);
}

void add_schedule_options(Options& options, ScheduleOptions& settings) {
  add_dropout_options(options, settings);
  options.add(option("leave", "FILE", "lines client,round: clients that are gone for good from that round (from 0)",
                     {.example = "leave.csv", .files = named::file}),
              settings.leave);
  options.add(option("link-loss", "P", "probability that a message is lost, below 1",
                     {.range = {0, 0.999999}, .unit = "probability"}),
              settings.link_loss);
  options.add(option("link-loss-model", "WHICH",
                     "acknowledged (the sender learns of it and keeps that mass) or unacknowledged (nobody tells it)",
                     {.example = "acknowledged",
                      .relations = {needs("link-loss", "no message is lost", "Say how many: --link-loss 0.05.")
                                        .only_for("unacknowledged")}}),
              settings.link_loss_model,
              {{"acknowledged", LossModel::acknowledged}, {"unacknowledged", LossModel::unacknowledged}});
}

OverlayTerms overlay_terms(const Graph& graph, const MixingSettings& mixing, std::uint64_t seed) {
  OverlayTerms terms{graph.rule() == WeightRule::sender ? MissingWeight::split_anew : MissingWeight::sender_keeps,
                     mixing.gossip_steps, seed};
  if (mixing.mixing == Mixing::push_sum) return terms;
  try {
    graph.require_receiver_sums();
    terms.missing = MissingWeight::receiver_keeps;
  } catch (const UsageError&) {  // there are no such sums to keep
  }
  return terms;
}

void require_connected(const Graph& graph, const std::string& file) {
  check(graph.ever_connects(),
        "the topology never connects: some client cannot reach some other however long the run is: models could not "
        "agree. See starling topology check {}.",
        file);
}

void require_connected_without(const Graph& graph, const std::vector<Client>& lost) {
  Departures departures(static_cast<std::size_t>(graph.clients()));
  for (const Client u : lost) departures[static_cast<std::size_t>(u)] = 0;
  const SeparationCheck found = check_departures(GraphSample(graph), departures);
  if (!found.first) return;
  constexpr std::size_t most = 8;
  const auto& parts = found.first->components;
  std::string edges;  // a ring through all parts
  for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) {
    edges += fmt::format("{}{} -> {}", i == 0 ? "" : ", ", parts[i].front(), parts[(i + 1) % parts.size()].front());
  }
  if (parts.size() > most) edges += ", and so on";
  throw UsageError(
      fmt::format("--lost: without clients {} the graph falls into {} components: models of those that are left could "
                  "not agree. Edges that would join them: {}. Take another graph for them: --rewire exponential",
                  list_of_clients(lost), parts.size(), edges));
}

std::vector<std::string> departure_notes(const Graph& graph, const ScheduleOptions& options, Round end) {
  if (!options.leave) return {};
  Departures departures = read_departures(*options.leave, graph.clients());
  for (auto& departure : departures) {
    if (departure && *departure >= end) departure.reset();
  }
  const GraphSample sample(graph);
  const SeparationCheck check = check_departures(sample, departures);
  std::vector<std::string> notes;
  if (std::ranges::all_of(departures, [](const auto& round) { return round.has_value(); })) {
    const Round last = *std::ranges::max(departures);
    notes.push_back(fmt::format(
        "--leave: from round {} on no client is left: later rounds change nothing. Let some client stay, or "
        "end the run by --rounds {}.",
        last, last));
  }
  if (check.first) notes.push_back(text_of(*check.first, sample));
  if (check.unknown_from) {
    notes.push_back(
        fmt::format("--leave: whether departures from round {} on leave the others connected was not looked at: there "
                    "are too many for a graph of this size",
                    *check.unknown_from));
  }
  return notes;
}

std::unique_ptr<Schedule> overlaid(std::unique_ptr<Schedule> schedule, const ScheduleOptions& options,
                                   const OverlayTerms& terms) {
  const Client clients = schedule->clients();
  auto absences = absences_of(options, clients, terms.seed);
  Departures departures;
  if (options.leave) {
    departures = read_departures(*options.leave, clients);
    check(std::ranges::any_of(departures, [](const auto& round) { return !round || *round > 0; }),
          "--leave {}: all clients are gone before the first round: nobody would play. Correct the rounds.",
          *options.leave);
  }
  if (absences || options.leave) {
    schedule = std::make_unique<AttendedSchedule>(std::move(schedule), std::move(absences), std::move(departures),
                                                  terms.missing, terms.steps_per_round);
  }
  if (options.link_loss > 0) {
    const LinkLossSettings settings{options.link_loss, options.link_loss_model, terms.seed};
    schedule = std::make_unique<LossySchedule>(std::move(schedule), settings, terms.missing);
  }
  return schedule;
}

}  // namespace starling
