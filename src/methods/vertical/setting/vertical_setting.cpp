#include "vertical_setting.hpp"

#include <algorithm>

#include "run/inputs/inputs.hpp"

namespace starling {

std::size_t VerticalSetting::first_party() const {
  return static_cast<std::size_t>(std::max<Client>(inputs.first_client() - 1, 0));
}

std::size_t VerticalSetting::party_count() const {
  return static_cast<std::size_t>(inputs.client_count()) -
         (inputs.client_count() > 0 && inputs.first_client() == 0 ? 1 : 0);
}

bool VerticalSetting::knows_labels(bool first_rank) const {
  if (config.matches_in_private()) return hosts(labels_at(config.settings()));
  if (!config.on_shares()) return first_rank || config.plan.labels == LabelHolders::all;
  return hosts(labels_at());
}

std::size_t VerticalSetting::labels_at(const VerticalSettings& settings) const {
  return settings.party_with_labels(static_cast<std::size_t>(inputs.layout->clients() - 1)).value_or(0);
}

std::size_t VerticalSetting::labels_at() const {
  const auto found = std::find(config.parties.begin(), config.parties.end(), config.label_source);
  check(config.label_source.empty() || config.parties.empty() || found != config.parties.end(),
        "--label-source '{}' with --protocol shares: labels are one party's secret, so they must be in a file of "
        "--parties. Put them into the party's file.",
        config.label_source);
  return found == config.parties.end() ? 0 : static_cast<std::size_t>(found - config.parties.begin());
}

std::vector<std::size_t> VerticalSetting::numbers(std::size_t hosted) const {
  const std::size_t width = data.shape.columns[first_party() + hosted];
  const std::vector<ColumnFeature> made =
      hosted < data.constants.size() ? data.constants[hosted].made_features() : std::vector<ColumnFeature>();
  const bool tells_kinds = data.columns_are_features && made.size() == width;
  std::vector<std::size_t> numbers;
  for (std::size_t j = 0; j < width; ++j) {
    if (!tells_kinds || made[j].kind == ColumnFeature::Kind::value) numbers.push_back(j);
  }
  return numbers;
}

VerticalDataset VerticalSetting::open_source(bool first_rank) const {
  return open_vertical(config.settings(), static_cast<std::size_t>(inputs.layout->clients() - 1), first_party(),
                       party_count(), knows_labels(first_rank));
}

void VerticalSetting::take_matched(VerticalDataset& again) const {
  const std::size_t labels = labels_at(config.settings());
  const std::optional<std::size_t> labels_of = hosts(labels) ? std::optional(labels - first_party()) : std::nullopt;
  if (!data.matched_rows.empty()) static_cast<void>(again.stream->match(data.matched_rows, labels_of));
  again.stream->settle(data.shape);
  if (data.received_targets) again.stream->take_targets(*data.received_targets);
}

}  // namespace starling
