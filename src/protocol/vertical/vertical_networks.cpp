#include "protocol/vertical/vertical_networks.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "data/vertical/vertical.hpp"
#include "loss/target_loss.hpp"
#include "protocol/bounded_model.hpp"
#include "protocol/vertical/vertical_settings.hpp"

namespace starling {

namespace {

class GradientDescent final : public Optimiser {
 public:
  void step(double eta, View direction, MutableView parameters) override { axpy(-eta, direction, parameters); }
  void persist(Snapshot&) override {}
};

class Adam final : public Optimiser {
 public:
  void step(double eta, View direction, MutableView parameters) override {
    first_.resize(direction.size());
    second_.resize(direction.size());
    power1_ *= beta1;
    power2_ *= beta2;
    for (std::size_t j = 0; j < direction.size(); ++j) {
      const double g = direction[j];
      first_[j] = beta1 * first_[j] + (1 - beta1) * g;
      second_[j] = beta2 * second_[j] + (1 - beta2) * g * g;
      parameters[j] -= eta * (first_[j] / (1 - power1_)) / (std::sqrt(second_[j] / (1 - power2_)) + epsilon);
    }
  }
  void persist(Snapshot& snapshot) override { snapshot(first_, second_, power1_, power2_); }

 private:
  static constexpr double beta1 = 0.9;
  static constexpr double beta2 = 0.999;
  static constexpr double epsilon = 1e-8;
  Vector first_;   ///< m of the paper
  Vector second_;  ///< v
  double power1_ = 1;
  double power2_ = 1;
};

}  // namespace

std::unique_ptr<Optimiser> make_optimiser(OptimiserKind kind) {
  if (kind == OptimiserKind::adam) return std::make_unique<Adam>();
  return std::make_unique<GradientDescent>();
}

LearningBlock::LearningBlock(const VerticalArchitecture& architecture, std::size_t k)
    : network_(make_network_block(k == 0 ? architecture.head : architecture.features[k - 1], architecture.precision)),
      parameters_(
          declare_public(architecture.starts(k) ? architecture.start[k] : network_->initial(architecture.seed, k))),
      optimiser_(make_optimiser(architecture.optimiser)),
      largest_(architecture.precision == Precision::single ? 1e8 : 1e100) {}

void LearningBlock::step(double eta, const Released<Vector>& direction) {
  parameters_.update([&](Vector& theta, const Vector& g) { optimiser_->step(eta, g, theta); }, direction);
  check<DataError>(
      is_bounded(parameters_.value(), largest_),
      "a network is not finite or has numbers beyond {:g}: columns, or labels that are numbers, are far from "
      "mean 0 and deviation 1, or steps are too long. Give means and deviations, which starling data "
      "describe shows, by --standardise, or limits by --ranges; else use a smaller --step.",
      largest_);
}

Score HeadLoss::play(View parameters, View embeddings, View targets) {
  const View outputs = head_.forward(parameters, embeddings);
  outputs_.assign(outputs.begin(), outputs.end());
  d_outputs_.resize(outputs_.size());
  const std::size_t width = loss_.outputs();
  const std::size_t numbers = loss_.targets();
  Score total;
  for (std::size_t i = 0; i * width < outputs_.size(); ++i) {
    const View scores = View(outputs_).subspan(i * width, width);
    const View truth = targets.subspan(i * numbers, numbers);
    const MutableView derivative = MutableView(d_outputs_).subspan(i * width, width);
    if (is_left_out(truth)) {
      std::fill(derivative.begin(), derivative.end(), 0.0);
      continue;
    }
    const Score own = score_of_record(loss_.value(scores, truth), loss_.classifies() && loss_.correct(scores, truth));
    loss_.derivative(scores, truth, derivative);
    const bool in_range = head_.out_of_range()[i] == 0 && own.out_of_range == 0 &&
                          std::all_of(derivative.begin(), derivative.end(), [](double d) { return std::isfinite(d); });
    if (!in_range) std::fill(derivative.begin(), derivative.end(), 0.0);
    total += in_range ? own : Score{0, 0, 0, 1};
  }
  return total;
}

void take_part(View embeddings, std::size_t parties, std::size_t k, std::size_t width, Vector& part) {
  const std::size_t records = embeddings.size() / (parties * width);
  part.resize(records * width);
  for (std::size_t i = 0; i < records; ++i)
    std::copy_n(&embeddings[(i * parties + k) * width], width, &part[i * width]);
}

void put_part(View part, std::size_t parties, std::size_t k, std::size_t width, MutableView embeddings) {
  for (std::size_t i = 0; i * width < part.size(); ++i) {
    std::copy_n(&part[i * width], width, &embeddings[(i * parties + k) * width]);
  }
}

namespace {

std::vector<LearningBlock> all_blocks(const VerticalArchitecture& architecture) {
  std::vector<LearningBlock> blocks;
  for (std::size_t k = 0; k <= architecture.parties(); ++k) blocks.emplace_back(architecture, k);
  return blocks;
}

}  // namespace

JointNetwork::JointNetwork(const VerticalArchitecture& architecture, const TargetLoss& loss)
    : blocks_(all_blocks(architecture)), head_(blocks_[0].network(), loss), width_(blocks_[1].network().outputs()) {}

Score JointNetwork::play(const std::vector<View>& columns, View targets) {
  const std::size_t parties = columns.size();
  for (std::size_t k = 0; k < parties; ++k) {
    LearningBlock& block = blocks_[k + 1];
    const View embedding = block.network().forward(block.parameters().value(), columns[k]);
    embeddings_.resize(embedding.size() * parties);
    put_part(embedding, parties, k, width_, embeddings_);
  }
  return head_.play(blocks_[0].parameters().value(), embeddings_, targets);
}

void JointNetwork::gradients(std::vector<Vector>& sums) {
  sums.resize(blocks_.size());
  const Clip none;
  head_.gradient(none, sums[0]);
  head_.embedding_derivatives(derivatives_);
  for (std::size_t k = 1; k < blocks_.size(); ++k) {
    take_part(derivatives_, blocks_.size() - 1, k - 1, width_, part_);
    blocks_[k].network().gradient(part_, none, sums[k]);
  }
}

}  // namespace starling
