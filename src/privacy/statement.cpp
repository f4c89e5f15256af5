#include "starling/privacy/statement.hpp"

#include "upper.hpp"
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "starling/core/check.hpp"

namespace starling {

namespace {

std::string with_delta(double epsilon, double delta) {
  if (delta == 0) return "epsilon = " + upper(epsilon);
  return "epsilon = " + upper(epsilon) + " with delta = " + upper(delta);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// 0 releases lose nothing, even by an infinite loss each.
double times(double count, double loss) {
  return count == 0 ? 0 : count * loss;
}

std::string verdict(const PrivacyReport& report) {
  if (report.public_data) return "The records of this run are public, so the figures below protect nobody. ";
  if (std::isinf(report.epsilon_per_release)) {
    return "This run is NOT private: no noise was added to what clients released. ";
  }
  if (report.noise_key == NoiseKeyPolicy::seed) {
    return "This run is NOT private: the noise comes from a public seed, so anybody who knows the seed can take it off "
           "again; the figures below would hold for secret noise keys. ";
  }
  return "";
}

std::string released(const PrivacyReport& report) {
  return fmt::format(
      "In run '{}' each of {} client(s) made at most {} release(s), one vector each, computed from a batch of at most "
      "{} "
      "record(s), and sent what it computed from them (its model) to {}. Nothing else that depends on a record was "
      "sent "
      "during the rounds{}. ",
      report.run_id, report.clients, report.releases, report.batch, report.recipients,
      report.shared_metrics.empty() ? "" : ", but for the metrics named below");
}

std::string unit_of(const PrivacyReport& report) {
  const std::string neighbours = "two data sets count as neighbours if " + report.neighbours + ". ";
  if (report.unit == PrivacyUnit::record) return "What is protected is one record of one client: " + neighbours;
  return fmt::format(
      "What is protected is only one component of a gradient (the dissertation's unit), and not a whole record, whose "
      "gradient has {} components: {}",
      report.dimension, neighbours);
}

/// The loss over all releases of a client, for who has more than one record (or component) in them.
std::string client_losses(const PrivacyReport& report) {
  const std::string all = with_delta(report.one_per_batch_epsilon, report.one_per_batch_delta);
  const bool record = report.unit == PrivacyUnit::record;
  std::string text =
      fmt::format("{} every batch of a client: at most {} by all {} release(s) of that client. ",
                  record ? "Somebody with one record in" : "If one component differs in", all, report.releases);
  if (std::isfinite(report.client_epsilon)) {
    text += fmt::format("Somebody to whom all records of a client belong: at most epsilon = {}. ",
                        upper(report.client_epsilon));
  }
  if (!record && report.delta_per_release == 0) {
    text += fmt::format("For a whole record, a group of {0} components: up to {0} times the figure of a component. ",
                        report.dimension);
  }
  return text;
}

std::string losses(const PrivacyReport& report) {
  return fmt::format(
             "One release costs at most {}; a {} entered at most {} release(s), which costs at most {} in total. ",
             with_delta(report.epsilon_per_release, report.delta_per_release), name_of(report.unit),
             report.participations, with_delta(report.epsilon, report.delta)) +
         client_losses(report) +
         "(An epsilon of e means: whatever is observed is at most exp(e) times as likely with one data set as with its "
         "neighbour, but for a probability of delta where one is named.) ";
}

std::string key_of(const PrivacyReport& report) {
  switch (report.noise_key) {
    case NoiseKeyPolicy::random:
      return "Noise keys were drawn by each client from its operating system and must stay secret. ";
    case NoiseKeyPolicy::file:
      return "Noise keys were read from files: the figures hold against everybody who has not read them. ";
    case NoiseKeyPolicy::seed:
      break;
  }
  return "Noise keys were derived from the public seed. ";
}

std::string metrics(const PrivacyReport& report) {
  if (report.shared_metrics.empty()) return "No metric computed from private records was shared. ";
  return fmt::format("Shared without noise, and outside every figure above: {}. ", joined(report.shared_metrics));
}

constexpr const char* not_covered =
    "Not covered: how many records a client has, their order in the stream and the sizes of its batches; how many "
    "features they have (of sparse records the largest index, unless it was fixed beforehand); when messages are sent "
    "and how long a client computes; who talks to whom and who sits out; what becomes known of a record by other "
    "ways; other runs on the same records. ";
constexpr const char* operators =
    "Clients that run in one process or under one user account are not protected from whoever operates it.";

}  // namespace

const char* name_of(NoiseKeyPolicy policy) {
  switch (policy) {
    case NoiseKeyPolicy::random:
      return "random";
    case NoiseKeyPolicy::seed:
      return "seed";
    case NoiseKeyPolicy::file:
      return "file";
  }
  return "unknown";
}

const char* name_of(PrivacyUnit unit) {
  return unit == PrivacyUnit::record ? "record" : "component";
}

bool PrivacyReport::is_private() const {
  return !public_data && noise_key != NoiseKeyPolicy::seed && std::isfinite(epsilon_per_release);
}

PrivacyReport privacy_report(const Mechanism& mechanism, const std::string& mechanism_name, NoiseKeyPolicy noise_key,
                             const ReleaseCounts& counts) {
  check(counts.participations >= 0 && counts.participations <= counts.releases && counts.clients >= 1,
        "{} participations in {} releases of {} clients (a record enters no more releases than its client makes)",
        counts.participations, counts.releases, counts.clients);
  const ReleaseSettings& settings = mechanism.settings();
  const Charge charge = mechanism.charge();
  const auto releases = static_cast<double>(counts.releases);
  const auto participations = static_cast<double>(counts.participations);
  PrivacyReport report;
  report.mechanism = mechanism_name;
  report.description = mechanism.description();
  report.noise_key = noise_key;
  report.unit = mechanism.unit();
  report.neighbours = mechanism.neighbours();
  report.epsilon_per_release = charge.epsilon;
  report.delta_per_release = charge.delta;
  report.participations = counts.participations;
  report.epsilon = times(participations, charge.epsilon);
  report.delta = std::min(1.0, participations * charge.delta);
  report.one_per_batch_epsilon = times(releases, charge.epsilon);
  report.one_per_batch_delta = std::min(1.0, releases * charge.delta);
  // Group privacy: all m records of a batch change, and under unit component all d components of each.
  const double group = static_cast<double>(settings.batch) *
                       (report.unit == PrivacyUnit::component ? static_cast<double>(settings.dimension) : 1.0);
  report.client_epsilon =
      charge.delta == 0 ? times(group, report.one_per_batch_epsilon) : std::numeric_limits<double>::infinity();
  report.releases = counts.releases;
  report.clients = counts.clients;
  report.batch = settings.batch;
  report.dimension = settings.dimension;
  report.clip = mechanism.clip().kind == ClipKind::none ? std::numeric_limits<double>::infinity() : settings.clip;
  report.run_id = settings.run_id;
  return report;
}

std::string statement(const PrivacyReport& report) {
  const std::string mechanism = fmt::format("Mechanism '{}': {} ", report.mechanism, report.description);
  const std::string beginning = verdict(report) + released(report);
  if (std::isinf(report.epsilon_per_release)) {
    return beginning + mechanism + "The privacy loss of every record is unbounded. " + metrics(report) + operators;
  }
  return beginning + unit_of(report) + mechanism + losses(report) + key_of(report) + metrics(report) + not_covered +
         operators;
}

}  // namespace starling
