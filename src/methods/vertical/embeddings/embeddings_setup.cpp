// The setup of `starling vertical --protocol embeddings`: networks, rounds and bits of messages.
#include <algorithm>
#include <cmath>
#include <limits>

#include "codec/quantiser.hpp"
#include "embeddings_play.hpp"
#include "graph/overlays/attendance.hpp"
#include "loss/target_loss.hpp"
#include "methods/vertical/setting/protocol_setup.hpp"
#include "methods/vertical/setting/vertical_config.hpp"
#include "methods/vertical/setting/vertical_setting.hpp"
#include "model/network/gradient_sum.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "protocol/vertical/vertical.hpp"
#include "run/privacy/run_facts.hpp"
#include "run/settings/schedule_options.hpp"
#include "run/stages/play.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

constexpr Round rounds_of_spectrum = 300;

class EmbeddingsSetup final : public ProtocolSetup {
 public:
  EmbeddingsSetup(RunContext& run, VerticalSetting& setting) : run_(run), setting_(setting), config_(setting.config) {}

  void settle() override;
  [[nodiscard]] std::unique_ptr<Protection> protection(const ReleaseSettings& settings) const override;
  void complete(RunFacts& facts) const override;
  [[nodiscard]] ServedRounds served(Client u) const override;
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun, const Method& method) override {
    return make_embeddings_play(begun, method, setting_, std::move(quantisers_));
  }

 private:
  void make_architecture();
  void choose_rounds();
  void choose_bits();
  void choose_absences();
  void note_cap();

  RunContext& run_;
  VerticalSetting& setting_;
  VerticalConfig& config_;
  EmbeddingQuantisers quantisers_;
};

void EmbeddingsSetup::settle() {
  make_architecture();
  choose_rounds();
  choose_bits();
  choose_absences();
}

/// Party k is client k. A list may speak of client 0, which cannot be absent.
void EmbeddingsSetup::choose_absences() {
  VerticalPlan& plan = config_.plan;
  plan.absences = absences_of(config_.absences, run_.inputs.layout->clients(), config_.data.seed);
  const std::string shares = config_.absences.dropout.value_or(",");
  if (!plan.absences || shares.find_first_of(",:") == std::string::npos) return;
  for (Round t = 0; t < plan.rounds; ++t) {
    check(!plan.absences->absent(0, t),
          "--dropout: client 0 would be absent in round {}: it is rank 0, which no round can do without. Name parties "
          "alone, from 1 on, and 0 as the share of client 0.",
          t);
  }
}

void EmbeddingsSetup::make_architecture() {
  const std::vector<std::size_t>& columns = setting_.data.shape.columns;
  if (!setting_.loss) {
    const std::size_t targets = setting_.data.shape.targets;
    setting_.loss =
        make_target_loss(config_.loss, config_.head.outputs.value_or(default_outputs(config_.loss, targets)), targets);
  }
  check(config_.features.outputs.has_value(),
        "--feature-net that ends with d: the data say nothing of embeddings. Give their size, as in d-64-16.");
  for (std::size_t k = 0; k < columns.size(); ++k) {
    setting_.architecture.features.push_back(
        config_.features.architecture(columns[k], 1, fmt::format("--feature-net of party {}", k + 1)));
  }
  setting_.architecture.head =
      config_.head.architecture(columns.size() * *config_.features.outputs, setting_.loss->outputs(), "--head");
  setting_.architecture.precision = config_.precision;
  setting_.architecture.seed = config_.data.seed;
  setting_.architecture.optimiser = config_.optimiser;
}

void EmbeddingsSetup::choose_rounds() {
  VerticalPlan& plan = config_.plan;
  const std::int64_t records = setting_.data.shape.records.value_or(std::numeric_limits<std::int64_t>::max());
  check(static_cast<std::int64_t>(setting_.data.batch) <= records,
        "--batch {} of {} records: no round would be full. Give at most {}.", setting_.data.batch, records, records);
  config_.data.batch = setting_.data.batch;
  plan.batch = setting_.data.batch;
  plan.keeps_predictions = setting_.loss->classifies() && setting_.loss->outputs() <= 2;
  plan.rounds =
      config_.is_spectrum() && !config_.rounds ? rounds_of_spectrum : run_.inputs.rounds_of(setting_.data.shape.rounds);
  check(!plan.lazy_after || *plan.lazy_after < plan.rounds,
        "--baseline lazy:{} of {} rounds: nobody would stop learning. Name an earlier round.",
        plan.lazy_after.value_or(0), plan.rounds);
}

void EmbeddingsSetup::choose_bits() {
  quantisers_.quantiser = quantiser_table().make(config_.quantiser);
  if (config_.bits.text.empty()) return;
  check(quantisers_.quantiser->chooses_bits(),
        "--bits {} with --quantiser {}: a floating-point number has always as many bits. Choose scalar or hexagonal.",
        config_.bits.text, config_.quantiser);
  quantisers_.bits = config_.bits.values(config_.plan.rounds, quantisers_.quantiser->most_bits());
  note_cap();
  quantisers_.by_bits.resize(static_cast<std::size_t>(std::ranges::max(quantisers_.bits)) + 1);
  for (const long long b : quantisers_.bits) {
    auto& own = quantisers_.by_bits[static_cast<std::size_t>(b)];
    if (!own) own = quantisers_.quantiser->with_bits(b);
  }
}

/// From where on errors of quantisation fall no more.
void EmbeddingsSetup::note_cap() {
  const std::optional<Round> capped = config_.bits.first_capped(quantisers_.quantiser->most_bits());
  if (!capped || *capped >= config_.plan.rounds) return;
  run_.notes.push_back(fmt::format(
      "--bits {}: from round {} on it asks for more than the {} bits that there are: errors of quantisation "
      "fall no more, and the paper's condition for sublinear regret does not hold",
      config_.bits.text, *capped + 1, quantisers_.quantiser->most_bits()));
}

/// 1 + E releases of a record in each round.
std::unique_ptr<Protection> EmbeddingsSetup::protection(const ReleaseSettings& settings) const {
  auto mechanism = std::make_unique<MultipartMechanism>(config_.privacy.mechanism_row().name, settings,
                                                        static_cast<std::size_t>(1 + config_.plan.local_steps));
  const VerticalParts parts = add_vertical_parts(*mechanism, setting_.architecture, config_.plan);
  for (const std::size_t part : parts.gradients) {
    if (config_.precision == Precision::single) GradientSum<float>::check_clip(mechanism->clip(part));
  }
  return mechanism;
}

void EmbeddingsSetup::complete(RunFacts& facts) const {
  facts.price_factor = std::sqrt(static_cast<double>(1 + config_.plan.local_steps));
  for (const long long bits : quantisers_.bits) facts.public_inputs += fmt::format(" {}", bits);
}

/// Labels that all know are nobody's secret: they are never paid for.
ServedRounds EmbeddingsSetup::served(Client u) const {
  const bool pays = u > 0 || config_.plan.labels == LabelHolders::head || config_.plan.central;
  if (!pays) return {0, 0, 0};
  const std::optional<std::int64_t> records = setting_.data.shape.records;
  const auto m = static_cast<std::int64_t>(config_.plan.batch);
  const std::optional<Round> of_pass = records ? std::optional<Round>((*records + m - 1) / m) : std::nullopt;
  return {records, of_pass, setting_.data.shape.rounds};
}

}  // namespace

std::unique_ptr<ProtocolSetup> embeddings_setup(RunContext& run, VerticalSetting& setting) {
  return std::make_unique<EmbeddingsSetup>(run, setting);
}

}  // namespace starling
