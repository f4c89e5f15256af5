#include "report/run_file.hpp"

#include <cmath>

#include "hdf5/file.hpp"

namespace starling {

void finish_run_file(const RunDirectory& directory, const Summary& summary) {
  const hdf5::File file(directory.run_file(), hdf5::File::Mode::append);
  std::vector<std::int64_t> rows;
  for (const EdgeTraffic& edge : summary.edges)
    rows.insert(rows.end(), {edge.from, edge.to, edge.messages, edge.bytes});
  file.write("/traffic", {summary.edges.size(), 4}, rows);
  file.attribute("/traffic", "columns", "from, to, messages, bytes");
  file.make_group("/privacy");
  if (!summary.learned) return;
  const PrivacyReport& privacy = summary.privacy;
  file.attribute("/privacy", "mechanism", privacy.mechanism);
  file.attribute("/privacy", "noise_key", std::string(name_of(privacy.noise_key)));
  file.attribute("/privacy", "unit", std::string(name_of(privacy.unit)));
  file.attribute("/privacy", "epsilon_per_release", privacy.release.epsilon);
  file.attribute("/privacy", "epsilon", privacy.own().epsilon);
  file.attribute("/privacy", "delta", privacy.own().delta);
  if (privacy.own().mu) file.attribute("/privacy", "mu", *privacy.own().mu);
  file.attribute("/privacy", "one_per_batch_epsilon", privacy.losses.one_per_batch.epsilon);
  file.attribute("/privacy", "client_epsilon", privacy.losses.client.epsilon);
  file.attribute("/privacy", "participations", static_cast<double>(privacy.losses.participations));
  file.attribute("/privacy", "statement", statement(privacy));
}

std::optional<double> last_loss(const std::vector<NetworkFigures>& history, Round rounds) {
  // Each line holds the mean since the one before, so lines count by the rounds between them.
  double total = 0;
  double weight = 0;
  for (std::size_t i = history.size(); i-- > 1;) {
    const auto span = static_cast<double>(history[i].done - history[i - 1].done);
    if (!std::isnan(history[i].loss)) {
      total += span * history[i].loss;
      weight += span;
    }
    if (history[i - 1].done * 10 <= rounds * 9) break;
  }
  return weight > 0 ? std::optional(total / weight) : std::nullopt;
}

}  // namespace starling
