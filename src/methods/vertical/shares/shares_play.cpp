#include "shares_play.hpp"

#include <cmath>
#include <map>
#include <utility>

#include <fmt/ranges.h>

#include "methods/vertical/setting/saved_parts.hpp"
#include "net/peers/peers.hpp"
#include "net/root/root.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "output/directory/run_directory.hpp"
#include "output/figures/vertical_record.hpp"
#include "privacy/mechanism/masking.hpp"
#include "privacy/shares/share_holder.hpp"
#include "privacy/shares/share_keys.hpp"
#include "privacy/shares/shared_gaussian.hpp"
#include "protocol/vertical/column_scales.hpp"
#include "protocol/vertical/shared_learning.hpp"
#include "report/summary.hpp"
#include "run/identity/introductions.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/results/run_results.hpp"
#include "run/stages/run_context.hpp"
#include "shares_rule.hpp"

namespace starling {

namespace {

/// Rows of weights, one for each output and each perhaps with an intercept at its end, as a dense layer's parameters.
Vector as_layer(const Vector& rows, std::size_t outputs, bool intercept) {
  const std::size_t columns = rows.size() / outputs;
  const std::size_t inputs = columns - (intercept ? 1 : 0);
  Vector layer((inputs + 1) * outputs);
  for (std::size_t c = 0; c < outputs; ++c) {
    for (std::size_t j = 0; j < columns; ++j) layer[j * outputs + c] = rows[c * columns + j];
  }
  return layer;
}

class SharesPlay final : public Play {
 public:
  SharesPlay(const BegunRun& begun, const Method& method, VerticalSetting& setting, const SharesRule& rule);

  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& /*observers*/, KeptParts& parts) override {
    parts.add("rounds", *protocol_);
  }
  void run(const std::vector<Observer*>& observers) override { protocol_->run(observers); }
  [[nodiscard]] RoundsEnd end() override { return RoundsEnd::in_step(protocol_->done(), rule_.steps().rounds); }
  [[nodiscard]] const RoundView& view() const override { return *protocol_; }
  [[nodiscard]] TimeShares time_shares() const override { return protocol_->time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override { return protocol_->models(); }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override;

 private:
  /// The units of columns: a clause for people that says what standardises them, and whether their sizes are known.
  struct ColumnUnits {
    std::string words;
    bool are_known = true;
  };
  /// Settles this for all parties alike; standardises those of `data` if their own constants are known without a
  /// release.
  [[nodiscard]] ColumnUnits settle_columns(std::vector<SharedData>& data, SharedSteps& steps,
                                           SharedGaussian& mechanism);
  /// **Collective.**
  void keep_scales();
  /// Says which columns histograms do not tell apart from a constant, or from nothing. **Collective.**
  void note_unresolved();
  /// Says where the intercept leaves columns no room. **Collective.**
  void note_rare_class();
  /// The keys of this rank's clients with all others. **Collective.**
  [[nodiscard]] ShareKeys agree_on_keys(const std::vector<SharedData>& data);
  /// The networks that stand for the parties' models and the sum of their scores, by client.
  [[nodiscard]] std::vector<std::pair<Client, Released<Vector>>> networks() const;
  [[nodiscard]] std::vector<EdgeTraffic> all_edges() const;
  void count_evaluation(Summary& summary);
  [[nodiscard]] SavedParts saved_parts() const { return {begun_, setting_, Clip(), rule_.terms().row_bounds}; }

  const BegunRun begun_;
  RunContext& run_ = begun_.context;
  const Method& method_;
  VerticalSetting& setting_;
  const SharesRule& rule_;
  Root root_;
  Root evaluation_;
  Peers peers_;
  std::optional<SharedLearning> protocol_;
  Standardisation label_scale_;  ///< once rounds are over
};

SharesPlay::SharesPlay(const BegunRun& begun, const Method& method, VerticalSetting& setting, const SharesRule& rule)
    : begun_(begun),
      method_(method),
      setting_(setting),
      rule_(rule),
      root_(run_.world, *run_.inputs.layout),
      evaluation_(run_.world, *run_.inputs.layout),
      peers_(run_.world, *run_.inputs.layout) {
  const SharesTerms& terms = rule_.terms();
  std::vector<SharedData> data;
  run_.agreement.together([&] {
    const auto first = terms.shape.columns.begin() + static_cast<std::ptrdiff_t>(setting.first_party());
    const std::vector<std::size_t> own(first, first + static_cast<std::ptrdiff_t>(setting.party_count()));
    data = shared_data(*setting.data.stream, setting.first_party(), own, terms.labels_at, *setting.loss);
    for (std::size_t hosted = 0; hosted < data.size(); ++hosted) data[hosted].numbers = setting.numbers(hosted);
  });
  ShareKeys keys = agree_on_keys(data);
  auto& mechanism = dynamic_cast<SharedGaussian&>(begun.privacy->protection());
  SharedSteps steps = rule_.steps();
  const ColumnUnits units = settle_columns(data, steps, mechanism);
  run_.agreement.together([&] {
    protocol_.emplace(
        root_, evaluation_, peers_, begun.privacy->accounts(), mechanism,
        [privacy = begun.privacy](Round t) { return privacy->price_at(0, t); }, begun.privacy->keys(), std::move(keys),
        terms, data, *setting.loss, steps);
  });
  run_.notes.push_back(rule_.in_words(units.words));
  if (!mechanism.terms().noisy) return;
  run_.notes.push_back(rule_.outlook(mechanism.deviation(begun.privacy->prices().range().most), units.are_known));
}

SharesPlay::ColumnUnits SharesPlay::settle_columns(std::vector<SharedData>& data, SharedSteps& steps,
                                                   SharedGaussian& mechanism) {
  const std::string as_they_are = "columns are taken to be standardised";
  if (!setting_.standardises()) return {as_they_are};
  if (mechanism.terms().noisy) {
    steps.scale_rounds = rule_.scale_rounds(begun_.privacy->prices().range().least);
    if (steps.scale_rounds == 0) {
      return {as_they_are + ": records are too few at this price to show how large they are", false};
    }
    steps.within_rounds = rule_.within_rounds(steps.scale_rounds);
    steps.scale_rounds += steps.within_rounds;
    mechanism.begins_with_histograms(steps.scale_rounds);
    return {fmt::format("columns are standardised by histograms with noise, in the first {}",
                        steps.scale_rounds == 1 ? "round" : fmt::format("{} rounds", steps.scale_rounds))};
  }
  if (!run_.metrics_policy().shared())
    return {as_they_are + ": --metrics local keeps their means and deviations", false};
  for (std::size_t hosted = 0; hosted < data.size(); ++hosted) {
    const std::size_t k = setting_.first_party() + hosted;
    const bool has_numbers = rule_.terms().residual && k == rule_.terms().labels_at;
    const PartyRows rows{data[hosted].rows,    data[hosted].labels, rule_.terms().shape.columns[k],
                         data[hosted].numbers, has_numbers,         data[hosted].records_of_person};
    const auto shared = run_.metrics_policy().share(exact_scales(rows), SharedFigure::column_scales);
    data[hosted].take_scales(scales_of_moments(shared->value()[0]), has_numbers);
  }
  return {"columns are standardised by their own means and deviations"};
}

/// The constants of the columns are parts of the model, and so are those of the labels, which all ranks have.
void SharesPlay::keep_scales() {
  const std::optional<Standardisation> own = protocol_->label_scale();
  for (const Vector& each :
       run_.agreement.all_gather(declare_public(own ? Vector{own->mean, own->deviation} : Vector()))) {
    if (!each.empty()) label_scale_ = {each[0], each[1]};
  }
  if (label_scale_ != Standardisation()) {
    setting_.data.label_constants.label_standardisation = label_scale_;
    if (setting_.held_out) setting_.held_out->label_constants.label_standardisation = label_scale_;
  }
  for (const auto& [client, scales] : protocol_->scales()) {
    const std::size_t hosted = static_cast<std::size_t>(client - 1) - setting_.first_party();
    if (scales.empty() || !setting_.data.columns_are_features) continue;
    PublicConstants& own = setting_.data.constants[hosted];
    const std::vector<ColumnFeature> made = own.made_features();
    own.standardisation.assign(own.features, {});
    for (const std::size_t j : setting_.numbers(hosted)) own.standardisation[made[j].column] = scales[j];
  }
}

void SharesPlay::note_unresolved() {
  std::vector<std::string> own;
  for (const auto& [client, columns] : protocol_->unresolved()) {
    const std::size_t hosted = static_cast<std::size_t>(client - 1) - setting_.first_party();
    const std::vector<std::size_t> numbers = setting_.numbers(hosted);
    const std::vector<std::string> names = hosted < setting_.data.constants.size()
                                               ? setting_.data.constants[hosted].feature_names()
                                               : std::vector<std::string>();
    std::vector<std::string> some;
    for (const std::size_t j : columns) {
      if (j == numbers.size()) {
        own.emplace_back("the labels");
      } else {
        some.push_back(numbers[j] < names.size() ? names[numbers[j]] : fmt::format("column {}", numbers[j]));
      }
    }
    if (some.empty()) continue;
    own.push_back(saved_parts().are_shared() ? fmt::format("{} of party {}", fmt::join(some, ", "), client)
                                             : fmt::format("{} of the columns of party {}", some.size(), client));
  }
  std::vector<std::string> all = run_.agreement.all_gather(declare_public(fmt::format("{}", fmt::join(own, "; "))));
  std::erase(all, "");
  if (all.empty()) return;
  run_.notes.push_back(fmt::format(
      "histograms do not show how the values of some columns differ ({}): they are of one size, or smaller than "
      "0.000002, so that less may be learned from them. A narrow range in --ranges, or a mean and deviation in "
      "--standardise, says it and costs nothing",
      fmt::join(all, "; ")));
}

// docs/methods/shares.md, "The outlook": columns have what the intercept leaves of its party's ball.
void SharesPlay::note_rare_class() {
  constexpr double most_of_ball = 0.9;
  const SharesTerms& terms = rule_.terms();
  if (terms.residual || terms.shape.outputs > 1) return;
  bool fills = false;
  for (const auto& [client, part] : protocol_->parts()) {
    const bool has_intercept = static_cast<std::size_t>(client - 1) == terms.labels_at;
    if (has_intercept) fills = std::abs(part.value().back()) > most_of_ball * terms.balls[terms.labels_at];
  }
  if (!run_.agreement.any(declare_public(fills))) return;
  run_.notes.emplace_back(
      "the intercept takes nearly all that the bound leaves the model of the party with the labels: one class is rare, "
      "and columns tell the classes apart less well than they could. With fewer records of the other class they have "
      "room, and more noise");
}

/// **Collective.**
ShareKeys SharesPlay::agree_on_keys(const std::vector<SharedData>& data) {
  std::vector<MaskKey> own;
  std::vector<MaskKey::Bytes> public_keys;
  const Client first = run_.inputs.first_client();
  const Secret<Vector> nothing;
  run_.agreement.together([&] {
    std::size_t party = 0;
    for (std::size_t k = 0; k < begun_.privacy->keys().size(); ++k) {
      const bool dealer = first + static_cast<Client>(k) == 0;
      const SharedData* const held = dealer ? nullptr : &data[party++];
      own.push_back(DataKeys::of(begun_.privacy->keys()[k], begun_.run_id, held == nullptr ? nothing : held->rows,
                                 held == nullptr ? nothing : held->labels,
                                 held == nullptr ? std::vector<std::size_t>() : held->records_of_person));
    }
  });
  public_keys = received_keys(
      own, relay_of(run_.agreement, run_.inputs.introductions.get(), "public keys of shares in run " + begun_.run_id));
  run_.agreement.same("public keys of the shares", declare_public(fingerprint(public_keys)));
  std::optional<ShareKeys> keys;
  run_.agreement.together([&] {
    if (!own.empty()) {
      OwnersFile::replace(begun_.directory.private_folder(run_.world.rank()) + "/share-keys",
                          Secret<std::string>(list_of_keys(public_keys, "shares")));
    }
    keys.emplace(own, first, public_keys);
  });
  return std::move(*keys);
}

Recording SharesPlay::recording() {
  return {
      rule_.steps().rounds, who_is_recorded(1, {}, method_.dimension()),
      Scores::none,         {},
      Models::one_for_all,  {{"aggregated", "yes"}, {"parties", std::to_string(run_.inputs.layout->clients() - 1)}}};
}

void SharesPlay::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  keep_scales();
  note_unresolved();
  note_rare_class();
  run_.agreement.together([&] {
    write_out_of_range(begun_.directory, run_.world.rank(),
                       "rows and labels that were beyond their bounds, and clipped", protocol_->clipped());
  });
  summary.clients = run_.inputs.layout->clients() - 1;
  summary.learned = true;
  summary.classifies = setting_.loss->classifies();
  LocalResults local = local_results(run_, method_, *this, std::move(models), nullptr);
  local.edges = all_edges();
  local.wire = root_.wire_traffic();
  local.wire.messages += peers_.wire_traffic().messages;
  local.wire.bytes += peers_.wire_traffic().bytes;
  if (setting_.held_out && end.stopped)
    run_.notes.emplace_back("metrics on --test: left out, since the run was stopped");
  if (setting_.held_out && !end.stopped) {
    const auto predict = [this](const auto& look) {
      return protocol_->predict(*setting_.held_out->stream, label_scale_, look);
    };
    local.test.emplace(run_.first_rank() ? 1 : 0, score_held_out(run_, setting_, predict, summary));
  }
  gather_results(run_.agreement, local, run_.metrics_policy(), false, summary);
  if (run_.first_rank()) set_one_model(summary, local.models.value()[0]);
  count_evaluation(summary);
}

/// Ascending, those of `root_` and `peers_` as one.
std::vector<EdgeTraffic> SharesPlay::all_edges() const {
  std::map<std::pair<Client, Client>, EdgeTraffic> edges;
  for (const auto& some : {root_.edge_traffic(), peers_.edge_traffic()}) {
    for (const EdgeTraffic& edge : some) {
      EdgeTraffic& all = edges[{edge.from, edge.to}];
      all = {edge.from, edge.to, all.messages + edge.messages, all.bytes + edge.bytes};
    }
  }
  std::vector<EdgeTraffic> list;
  for (const auto& [ends, edge] : edges) list.push_back(edge);
  return list;
}

void SharesPlay::count_evaluation(Summary& summary) {
  std::int64_t own = 0;
  for (const EdgeTraffic& edge : evaluation_.edge_traffic()) own += edge.bytes;
  summary.add(LearnedOnShares{rule_.terms().shape.all_components()});
  summary.part<RunTraffic>().evaluation_bytes += run_.agreement.sum(declare_public(own));
}

void SharesPlay::complete_summary(Summary& summary) {
  saved_parts().save(summary, networks());
  // Of what nobody knows nothing is withheld.
  std::erase_if(summary.withheld, [](const std::string& key) { return key != "accuracy"; });
  if (!setting_.held_out) std::erase(summary.withheld, "accuracy");
}

/// A network of a party has its weights and an intercept; that of the head, which adds the scores, comes from the rank
/// that knows how labels are read, if all parts go into one file.
std::vector<std::pair<Client, Released<Vector>>> SharesPlay::networks() const {
  std::vector<std::pair<Client, Released<Vector>>> networks;
  const bool head = saved_parts().are_shared() ? setting_.knows_labels(run_.first_rank()) : run_.first_rank();
  if (head) {
    const SharesShape& shape = rule_.terms().shape;
    networks.emplace_back(0, declare_public(sum_of_scores(shape.parties(), shape.outputs)));
  }
  for (auto& [client, part] : protocol_->parts()) {
    networks.emplace_back(client, part);
    const bool intercept = static_cast<std::size_t>(client - 1) == rule_.terms().labels_at;
    const std::size_t outputs = rule_.terms().shape.outputs;
    networks.back().second.update([=](Vector& weights) { weights = as_layer(weights, outputs, intercept); });
  }
  return networks;
}

}  // namespace

std::unique_ptr<Play> make_shares_play(const BegunRun& begun, const Method& method, VerticalSetting& setting,
                                       const SharesRule& rule) {
  return std::make_unique<SharesPlay>(begun, method, setting, rule);
}

}  // namespace starling
