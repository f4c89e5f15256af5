#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "starling/record/summary.hpp"

namespace starling {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_listed_edges = 1000;
constexpr std::size_t most_shown_edges = 12;

/// Infinite and unknown numbers are null.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

double mean(double total, std::int64_t count) {
  return count > 0 ? total / static_cast<double>(count) : std::nan("");
}

std::int64_t total_messages(const Summary& summary) {
  std::int64_t total = 0;
  for (const EdgeTraffic& edge : summary.edges) total += edge.messages;
  return total;
}
std::int64_t total_bytes(const Summary& summary) {
  std::int64_t total = 0;
  for (const EdgeTraffic& edge : summary.edges) total += edge.bytes;
  return total;
}

/// On --test if there is one, else progressive, else unknown.
double accuracy_of(const Summary& summary) {
  if (!summary.classifies) return std::nan("");
  const auto& score = summary.test ? summary.test : summary.progressive;
  return score ? mean(static_cast<double>(score->correct), score->records) : std::nan("");
}

Json privacy_json(const Summary& summary) {
  const PrivacyReport& privacy = summary.privacy;
  if (!summary.learned) {
    return {{"mechanism", "none"},
            {"participations", 0},
            {"epsilon", 0},
            {"client_epsilon", 0},
            {"statement", "No record was used: the clients averaged public start values."}};
  }
  return {{"mechanism", privacy.mechanism},
          {"noise_key", name_of(privacy.noise_key)},
          {"unit", name_of(privacy.unit)},
          {"epsilon_per_release", number(privacy.epsilon_per_release)},
          {"epsilon", number(privacy.epsilon)},
          {"delta", number(privacy.delta)},
          {"mu", nullptr},
          {"participations", privacy.participations},
          {"one_per_batch_epsilon", number(privacy.one_per_batch_epsilon)},
          {"one_per_batch_delta", number(privacy.one_per_batch_delta)},
          {"client_epsilon", number(privacy.client_epsilon)},
          {"releases", privacy.releases},
          {"clip", number(privacy.clip)},
          {"private", privacy.is_private()},
          {"shared_metrics", privacy.shared_metrics},
          {"run_id", privacy.run_id},
          {"statement", statement(privacy)}};
}

Json traffic_json(const Summary& summary) {
  Json edges = Json::array();
  if (summary.edges.size() <= most_listed_edges) {
    for (const EdgeTraffic& edge : summary.edges) edges.push_back({edge.from, edge.to, edge.messages, edge.bytes});
  }
  return {{"messages", total_messages(summary)},
          {"bytes", total_bytes(summary)},
          {"edges", edges},
          {"rank_messages", summary.wire.messages},
          {"rank_bytes", summary.wire.bytes},
          {"evaluation_bytes", summary.evaluation_bytes}};
}

Json metrics_json(const Summary& summary) {
  Json metrics = Json::object();
  if (summary.test) {
    metrics["test_loss"] = number(mean(summary.test->loss, summary.test->records));
    if (summary.classifies) {
      metrics["test_accuracy"] = number(mean(static_cast<double>(summary.test->correct), summary.test->records));
    }
  }
  if (summary.progressive && summary.classifies) {
    metrics["progressive_accuracy"] =
        number(mean(static_cast<double>(summary.progressive->correct), summary.progressive->records));
  }
  const std::string here = "metrics.";
  for (const std::string& name : summary.withheld) {
    if (name.starts_with(here)) metrics[name.substr(here.size())] = nullptr;
  }
  return metrics;
}

std::string shown(double value, const char* format) {
  return std::isfinite(value) ? fmt::vformat(format, fmt::make_format_args(value)) : "-";
}

std::string row(const char* name, const std::string& value) {
  return fmt::format("  {:<22}{}\n", name, value);
}

/// Breaks a paragraph at spaces.
std::string wrapped(const std::string& paragraph, std::size_t width) {
  std::string text;
  std::size_t column = 0;
  std::istringstream words(paragraph);
  for (std::string word; words >> word;) {
    const bool fits = column + word.size() < width;
    if (column > 0) text += fits ? ' ' : '\n';
    column = (fits ? column + 1 : 0) + word.size();
    text += word;
  }
  return text;
}

std::string epsilon_text(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.6g}", epsilon) : "unbounded";
}

std::string traffic_rows(const Summary& summary) {
  std::string text = row("messages", fmt::format("{} over {} edges, {:.4g} MB (between ranks: {} messages, {:.4g} MB)",
                                                 total_messages(summary), summary.edges.size(),
                                                 static_cast<double>(total_bytes(summary)) / 1e6, summary.wire.messages,
                                                 static_cast<double>(summary.wire.bytes) / 1e6));
  for (std::size_t i = 0; i < std::min(summary.edges.size(), most_shown_edges); ++i) {
    const EdgeTraffic& edge = summary.edges[i];
    text += row(i == 0 ? "per edge" : "", fmt::format("{:>4} -> {:<4} {:>10} messages {:>14} bytes", edge.from, edge.to,
                                                      edge.messages, edge.bytes));
  }
  if (summary.edges.size() > most_shown_edges) {
    text += row("", fmt::format("... {} more edges, in summary.json and /traffic of run.h5",
                                summary.edges.size() - most_shown_edges));
  }
  return text;
}

}  // namespace

std::string to_json(const Summary& summary) {
  Json json;
  json["command"] = summary.command;
  json["command_line"] = summary.command_line;
  json["clients"] = summary.clients;
  json["ranks"] = summary.ranks;
  json["rounds"] = summary.rounds;
  json["rounds_planned"] = summary.rounds_planned;
  json["dimension"] = summary.dimension;
  json["average"] = summary.average;
  json["loss"] = {{"mean", summary.progressive ? number(mean(summary.progressive->loss, summary.progressive->records))
                                               : Json(nullptr)},
                  {"last", summary.last_loss ? number(*summary.last_loss) : Json(nullptr)}};
  json["accuracy"] = number(accuracy_of(summary));
  json["metrics"] = metrics_json(summary);
  json["consensus_error"] = number(summary.consensus_error);
  json["mass"] = number(summary.mass);
  json["step_debt"] = number(summary.largest_debt);
  json["regret"] = nullptr;
  json["privacy"] = privacy_json(summary);
  json["traffic"] = traffic_json(summary);
  const double busy =
      summary.shares.learning + summary.shares.exchange + summary.shares.mixing + summary.shares.observing;
  json["time"] = {{"wall", summary.wall},
                  {"rounds_per_second", number(static_cast<double>(summary.rounds) / summary.wall)},
                  {"shares",
                   {{"learning", number(summary.shares.learning / busy)},
                    {"exchange", number(summary.shares.exchange / busy)},
                    {"mixing", number(summary.shares.mixing / busy)},
                    {"observing", number(summary.shares.observing / busy)}}}};
  json["final_model"] = summary.final_model;
  if (summary.models) {
    Json models = Json::array();
    for (std::size_t u = 0; u < summary.models->size(); ++u) {
      const View x = (*summary.models)[u];
      models.push_back(Vector(x.begin(), x.end()));
    }
    json["models"] = models;
  }
  json["withheld"] = summary.withheld;
  json["notes"] = summary.notes;
  json["output"] = summary.run_directory;
  return json.dump(2);
}

std::string to_table(const Summary& summary) {
  std::string text =
      fmt::format("starling {}: {} clients on {} ranks, {} of {} rounds, dimension {}\n\n", summary.command,
                  summary.clients, summary.ranks, summary.rounds, summary.rounds_planned, summary.dimension);
  if (summary.learned) {
    if (summary.progressive) {
      text += row("loss", fmt::format("{} mean, {} over the last tenth",
                                      shown(mean(summary.progressive->loss, summary.progressive->records), "{:.6f}"),
                                      shown(summary.last_loss.value_or(std::nan("")), "{:.6f}")));
    } else {
      text += row("loss", "withheld: in private/, for each owner (--metrics shared shows it)");
    }
    if (summary.test) text += row("test loss", shown(mean(summary.test->loss, summary.test->records), "{:.6f}"));
    if (summary.classifies) {
      text += row("accuracy", std::isfinite(accuracy_of(summary))
                                  ? fmt::format("{:.2f} % {}", 100 * accuracy_of(summary),
                                                summary.test ? "on --test, mean over clients" : "progressive")
                                  : "withheld: in private/ (name a public --test set to see one)");
    }
  }
  text += row("consensus error",
              fmt::format("{:.3e}  (mean squared distance of a client to the mean model)", summary.consensus_error));
  text +=
      row("mass", fmt::format("{:.12g}  (sum of the clients' weights; {} is right)", summary.mass, summary.clients));
  if (summary.largest_debt > 1e-12)
    text += row("step debt", fmt::format("{:.3g} not yet repaid", summary.largest_debt));
  if (summary.learned) {
    const PrivacyReport& privacy = summary.privacy;
    text += row(privacy.unit == PrivacyUnit::record ? "epsilon per record" : "epsilon per component",
                fmt::format("{}{}  ({} x {} per release, unit {}, mechanism {})", epsilon_text(privacy.epsilon),
                            privacy.is_private() || !std::isfinite(privacy.epsilon) ? "" : ", but see below",
                            privacy.participations, epsilon_text(privacy.epsilon_per_release), name_of(privacy.unit),
                            privacy.mechanism));
    text += row("epsilon per client",
                fmt::format("{}  (all records of a client; {} for one record in every batch)",
                            epsilon_text(privacy.client_epsilon), epsilon_text(privacy.one_per_batch_epsilon)));
  }
  text += traffic_rows(summary);
  text += row("speed", fmt::format("{:.0f} rounds/s ({:.3f} s)", static_cast<double>(summary.rounds) / summary.wall,
                                   summary.wall));
  for (const std::string& note : summary.notes) text += row("note", note);
  if (summary.learned) text += "\n" + wrapped("Privacy. " + statement(summary.privacy), 110) + "\n";
  text += fmt::format("\nResults    {}\nCommand    {}\n", summary.run_directory, summary.command_line);
  return text;
}

}  // namespace starling
