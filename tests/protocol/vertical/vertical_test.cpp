// Vertical learning on any number of ranks against a loop over all parties that is written down once more.
#include "protocol/vertical/vertical.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "core/random.hpp"
#include "data/vertical/vertical.hpp"
#include "loss/target_loss.hpp"
#include "net/agreement.hpp"
#include "net/root/root.hpp"
#include "privacy/clip_rows.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "protocol/vertical/vertical_hindsight.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::vertical_test {

using namespace testing_support;

constexpr std::size_t m = 5;
constexpr Round rounds = 9;
constexpr std::size_t width = 3;  // e
const std::vector<std::size_t> columns{4, 2, 6};
constexpr std::size_t parties = 3;
constexpr std::size_t outputs = 2;

/// Records of a round: m, and in the last round two less; two more are only scored.
std::size_t learning(Round t) {
  return t + 1 == rounds ? m - 2 : m;
}
constexpr std::size_t testing_records = 2;

Vector inputs_of(std::size_t k, Round t) {
  AddressedRandom random(5, Purpose::experiment, k, static_cast<std::uint64_t>(t));
  Vector x((learning(t) + testing_records) * columns[k]);
  for (double& value : x) value = random.normal();
  return x;
}

/// Of all parties' first columns.
Vector targets_of(Round t) {
  Vector y;
  for (std::size_t i = 0; i < learning(t) + testing_records; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < parties; ++k) sum += inputs_of(k, t)[i * columns[k]];
    y.push_back(sum);
    y.push_back(std::sin(sum));
  }
  return y;
}

class FixedVerticalStream final : public VerticalStream {
 public:
  /// Has the records from round `from` on, and none of round `end` and later ones.
  FixedVerticalStream(std::size_t first, std::size_t count, bool targets_known, Round from = 0,
                      Round end = std::numeric_limits<Round>::max())
      : first_(first), targets_known_(targets_known), from_(from), end_(end) {
    inputs_.resize(count);
  }
  void load(Round after_first) override {
    const Round t = from_ + after_first;
    learning_ = t < end_ ? vertical_test::learning(t) : 0;
    testing_ = t < end_ ? testing_records : 0;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      inputs_[k].update([&](Vector& x) { x = inputs_of(first_ + k, t); });
    }
    if (targets_known_) targets_.update([&](Vector& y) { y = targets_of(t); });
  }
  [[nodiscard]] std::int64_t participations() const override { return 1; }
  void align(std::span<const std::uint64_t>) override {}
  void settle(const VerticalShape&) override {}

 private:
  std::size_t first_;
  bool targets_known_;
  Round from_;
  Round end_;
};

VerticalArchitecture architecture_of(Precision precision = Precision::single) {
  VerticalArchitecture architecture;
  for (const std::size_t p : columns) architecture.features.push_back(perceptron({p, 7, width}));
  architecture.head = perceptron({parties * width, 4, outputs});
  architecture.precision = precision;
  architecture.seed = 3;
  return architecture;
}

struct Case {
  VerticalPlan plan;
  std::string quantiser = "float32";
  std::string head_quantiser = "float32";
  std::string mechanism = "none";
};

Case case_of(Round local_steps = 1) {
  Case c;
  c.plan.rounds = rounds;
  c.plan.local_steps = local_steps;
  c.plan.step = 0.05;
  c.plan.step_power = 0.25;
  c.plan.step_offset = 2;
  c.plan.batch = m;
  c.plan.embedding_clip = 0.7;
  return c;
}

MultipartMechanism mechanism_of(const Case& c) {
  const ReleaseSettings settings{.price = PriceRange::of(2),
                                 .clip = c.mechanism == "none" ? std::numeric_limits<double>::infinity() : 1.5,
                                 .batch = m,
                                 .dimension = 1,
                                 .rounds = rounds,
                                 .run_id = "vertical test"};
  return MultipartMechanism(c.mechanism, settings, static_cast<std::size_t>(1 + c.plan.local_steps));
}

constexpr double price = 2;

/// Losses per round, and the parameters of all blocks at the end.
struct Outcome {
  Vector learned;
  Vector tested;
  std::vector<Vector> blocks;
  RoundBits bits;
  std::size_t predictions = 0;
  double held_out = 0;            ///< loss of the predictions of held-out records
  std::size_t held_out_seen = 0;  ///< held-out records that were shown
};

/// Rounds whose records are held out, to be predicted after all rounds: m, then two less.
constexpr Round first_held_out = rounds - 2;

/// Algorithm 1 as a loop over parties.
class Serial {
 public:
  explicit Serial(const Case& c)
      : case_(c), mechanism_(mechanism_of(c)), loss_(make_target_loss("mse", outputs, outputs)) {
    const VerticalArchitecture architecture = architecture_of();
    for (std::size_t k = 0; k <= parties; ++k) {
      networks_.push_back(
          make_network_block(k == 0 ? architecture.head : architecture.features[k - 1], architecture.precision));
      theta_.push_back(networks_[k]->initial(architecture.seed, k));
    }
    for (std::size_t k = 1; k <= parties; ++k) {
      embedding_part_ =
          mechanism_.add("embedding", noisy() ? c.plan.embedding_clip : mechanism_.settings().clip, m * width);
      parts_.push_back(mechanism_.add("gradient of a party", mechanism_.settings().clip, networks_[k]->dimension()));
    }
  }

  Outcome run() {
    Outcome outcome;
    for (Round t = 0; t < rounds; ++t) {
      t_ = t;
      const std::vector<Vector> own = embed_all(0, learning(t));
      const std::vector<Vector> sent = send_all(own, learning(t), 0);
      const Vector y(targets_of(t));
      outcome.learned.push_back(head_loss(theta_[0], joined(sent), View(y).first(learning(t) * outputs)));
      if (!case_.plan.lazy_after || t < *case_.plan.lazy_after) learn(own, sent, View(y).first(learning(t) * outputs));
      const std::vector<Vector> test = send_all(embed_all(learning(t), testing_records), testing_records, 1);
      outcome.tested.push_back(head_loss(theta_[0], joined(test), View(y).subspan(learning(t) * outputs)));
    }
    for (t_ = first_held_out; t_ < rounds; ++t_) {
      std::vector<Vector> sent = embed_all(0, learning(t_));
      for (Vector& of_party : sent) of_party = through(case_.quantiser, of_party);
      outcome.held_out += head_loss(theta_[0], joined(sent), View(targets_of(t_)).first(learning(t_) * outputs));
      outcome.held_out_seen += learning(t_);
    }
    outcome.blocks = theta_;
    return outcome;
  }

 private:
  [[nodiscard]] bool noisy() const { return case_.mechanism != "none"; }

  Vector through(const std::string& quantiser, const Vector& numbers) {
    const auto codec = quantiser_table().make(quantiser);
    std::vector<std::byte> message(codec->bytes(numbers.size()));
    codec->encode(numbers, message);
    Vector back(numbers.size());
    codec->decode(message, back);
    return back;
  }

  Vector released(std::size_t part, std::size_t client, std::uint32_t index, const Vector& sum) {
    Released<Vector> mean = declare_public(Vector());
    mechanism_.release(part, {ReleasePath::by_itself, static_cast<Client>(client), t_, index}, price,
                       NoiseKey::from_seed(1, static_cast<Client>(client)), Secret<Vector>(sum), mean);
    return mean.value();
  }

  Vector embed(std::size_t k, std::size_t first, std::size_t count) {
    const Vector x = inputs_of(k - 1, t_);
    const View h = networks_[k]->forward(theta_[k], View(x).subspan(first * columns[k - 1], count * columns[k - 1]));
    Vector embedding(h.begin(), h.end());
    clip_rows(embedding, width, mechanism_.clip(embedding_part_));
    return embedding;
  }
  std::vector<Vector> embed_all(std::size_t first, std::size_t count) {
    std::vector<Vector> all;
    for (std::size_t k = 1; k <= parties; ++k) all.push_back(embed(k, first, count));
    return all;
  }
  std::vector<Vector> send_all(const std::vector<Vector>& own, std::size_t count, std::uint32_t index) {
    std::vector<Vector> sent;
    for (std::size_t k = 1; k <= parties; ++k) {
      Vector rows = own[k - 1];
      rows.resize(m * width);
      Vector out = released(embedding_part_, k, index, rows);
      for (double& x : out) x *= m;
      out.resize(count * width);
      sent.push_back(through(case_.quantiser, out));
    }
    return sent;
  }
  static Vector joined(const std::vector<Vector>& parts) {
    Vector all;
    for (std::size_t i = 0; i < parts[0].size() / width; ++i) {
      for (const Vector& part : parts) {
        all.insert(all.end(), part.begin() + static_cast<std::ptrdiff_t>(i * width),
                   part.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
      }
    }
    return all;
  }

  /// F times M, and the derivatives by the head's outputs.
  double head_loss(const Vector& head, const Vector& embeddings, View y) {
    const View scores = networks_[0]->forward(head, embeddings);
    d_scores_.resize(scores.size());
    double total = 0;
    for (std::size_t i = 0; i < scores.size(); i += outputs) {
      total += loss_->value(scores.subspan(i, outputs), y.subspan(i, outputs));
      loss_->derivative(scores.subspan(i, outputs), y.subspan(i, outputs), MutableView(d_scores_).subspan(i, outputs));
    }
    return total;
  }

  void learn(std::vector<Vector> own, const std::vector<Vector>& sent, View y) {
    const Vector head_hat = through(case_.head_quantiser, theta_[0]);
    const double eta =
        case_.plan.step * std::pow(static_cast<double>(t_) + 1 + case_.plan.step_offset, -case_.plan.step_power);
    for (Round e = 0; e < case_.plan.local_steps; ++e) {
      for (std::size_t k = 1; k <= parties; ++k) {
        if (e > 0) own[k - 1] = embed(k, 0, learning(t_));
        std::vector<Vector> mine = sent;
        mine[k - 1] = own[k - 1];
        head_loss(head_hat, joined(mine), y);
        Vector d;
        networks_[0]->input_derivatives(d_scores_, d);
        Vector d_own;
        for (std::size_t i = 0; i < learning(t_); ++i) {
          for (std::size_t j = 0; j < width; ++j) d_own.push_back(d[i * parties * width + (k - 1) * width + j]);
        }
        Vector gradient;
        networks_[k]->gradient(d_own, mechanism_.clip(parts_[k - 1]), gradient);
        const Vector g = released(parts_[k - 1], k, static_cast<std::uint32_t>(e + 1), gradient);
        for (std::size_t j = 0; j < g.size(); ++j) theta_[k][j] -= eta * g[j];
      }
      head_loss(theta_[0], joined(sent), y);
      Vector gradient;
      networks_[0]->gradient(d_scores_, Clip(), gradient);
      for (std::size_t j = 0; j < gradient.size(); ++j) theta_[0][j] -= eta * (gradient[j] / m);
    }
  }

  Case case_;
  MultipartMechanism mechanism_;
  std::unique_ptr<TargetLoss> loss_;
  std::vector<std::unique_ptr<NetworkBlock>> networks_;
  std::vector<Vector> theta_;
  std::vector<std::size_t> parts_;
  std::size_t embedding_part_ = 0;
  Vector d_scores_;
  Round t_ = 0;
};

class Rounds final : public Observer {
 public:
  Rounds(const Vertical& protocol, Outcome& outcome) : protocol_(protocol), outcome_(outcome) {}
  void after(const RoundView& view) override {
    if (view.done() == 0 || world().rank() != 0) return;
    const MetricsPolicy shared(MetricsPolicy::Sharing::shared);
    outcome_.learned.push_back(shared.share(protocol_.learned(), SharedFigure::scores_of_vertical)->value().loss);
    outcome_.tested.push_back(shared.share(protocol_.tested(), SharedFigure::scores_of_vertical)->value().loss);
  }

 private:
  const Vertical& protocol_;
  Outcome& outcome_;
};

std::vector<Vector> gathered(const Vertical& protocol) {
  Vector own;
  for (const auto& [client, parameters] : protocol.blocks()) {
    own.push_back(client);
    own.insert(own.end(), parameters.value().begin(), parameters.value().end());
  }
  std::vector<Vector> blocks(parties + 1);
  for (const Vector& of_rank : Agreement(world()).all_gather(declare_public(own))) {
    for (std::size_t from = 0; from < of_rank.size();) {
      const auto k = static_cast<std::size_t>(of_rank[from]);
      const std::size_t dimension = LearningBlock(architecture_of(), k).network().dimension();
      blocks[k].assign(of_rank.begin() + static_cast<std::ptrdiff_t>(from + 1),
                       of_rank.begin() + static_cast<std::ptrdiff_t>(from + 1 + dimension));
      from += 1 + dimension;
    }
  }
  return blocks;
}

/// The protocol on all ranks; losses and bits are known on rank 0 alone.
Outcome play(const Case& c) {
  const Layout layout = Layout::with_centre(parties, world().size());
  const Client first = layout.first(world().rank());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  const std::size_t centre = first == 0 && count > 0 ? 1 : 0;
  MultipartMechanism mechanism = mechanism_of(c);
  Accounts accounts(mechanism, Prices::parse("2", "price", c.plan.rounds, layout.clients(), 0, 1e6), c.plan.rounds,
                    first, std::vector<ServedRounds>(count));
  std::vector<NoiseKey> keys;
  for (std::size_t k = 0; k < count; ++k) keys.push_back(NoiseKey::from_seed(1, first + static_cast<Client>(k)));
  FixedVerticalStream stream(static_cast<std::size_t>(std::max<Client>(first - 1, 0)), count - centre,
                             c.plan.labels == LabelHolders::all || world().rank() == 0);
  Root root(world(), layout);
  Root evaluation(world(), layout);
  const auto loss = make_target_loss("mse", outputs, outputs);
  const auto quantiser = quantiser_table().make(c.quantiser);
  VerticalWire wire{[&](Round) -> const Quantiser& { return *quantiser; }, quantiser_table().make(c.head_quantiser),
                    quantiser_table().make("float32")};
  Vertical protocol(root, evaluation, stream, accounts, mechanism, keys, architecture_of(), *loss, std::move(wire),
                    c.plan);
  Outcome outcome;
  Rounds observer(protocol, outcome);
  protocol.run({&observer});
  EXPECT_EQ(protocol.done(), c.plan.rounds);
  outcome.blocks = gathered(protocol);
  outcome.bits = protocol.total_bits();
  FixedVerticalStream held_out(static_cast<std::size_t>(std::max<Client>(first - 1, 0)), count - centre,
                               world().rank() == 0, first_held_out, rounds);
  const Score score = protocol.predict(held_out, [&](View of_head, View targets) {
    EXPECT_EQ(of_head.size(), outputs);
    EXPECT_EQ(targets.size(), outputs);
    ++outcome.held_out_seen;
  });
  outcome.held_out = score.loss;
  return outcome;
}

void expect_same(const Outcome& here, const Outcome& expected) {
  EXPECT_EQ(here.blocks, expected.blocks);
  if (world().rank() != 0) return;
  EXPECT_EQ(here.learned, expected.learned);
  EXPECT_EQ(here.tested, expected.tested);
  EXPECT_EQ(here.held_out, expected.held_out);
  EXPECT_EQ(here.held_out_seen, expected.held_out_seen);
}

TEST(Vertical, IsAlgorithmOneBitForBitOnAnyRanks) {
  for (const char* quantiser : {"float32", "scalar:3", "hexagonal:2", "float16"}) {
    for (const Round local_steps : {Round{1}, Round{3}}) {
      SCOPED_TRACE(fmt::format("{} E={}", quantiser, local_steps));
      Case c = case_of(local_steps);
      c.quantiser = quantiser;
      if (local_steps == 3) c.head_quantiser = "scalar:8";
      expect_same(play(c), Serial(c).run());
    }
  }
}

TEST(Vertical, WithNoiseIsTheSameOnAnyRanks) {
  Case c = case_of(2);
  c.mechanism = "gaussian";
  c.quantiser = "scalar:6";
  const Outcome outcome = play(c);
  expect_same(outcome, Serial(c).run());
  c.mechanism = "none";
  EXPECT_NE(outcome.blocks[1], play(c).blocks[1]) << "noise changes something";
}

TEST(Vertical, LearnsSomething) {
  Case c = case_of(2);
  c.plan.rounds = 200;
  const Outcome outcome = play(c);
  c.plan.lazy_after = 0;
  const Outcome start = play(c);
  if (world().rank() != 0) return;
  const auto of_last = [](const Vector& losses) { return std::accumulate(losses.end() - 40, losses.end(), 0.0); };
  EXPECT_LT(of_last(outcome.learned), 0.5 * of_last(start.learned));
  EXPECT_LT(of_last(outcome.tested), 0.5 * of_last(start.tested));
}

// An identity at E = 1, where float32 changes no number (docs/methods/vertical.md, "Figures").
TEST(Vertical, IsCentralLearningBitForBitWithOneLocalStep) {
  const Case c = case_of();
  Case central = c;
  central.plan.central = true;
  expect_same(play(central), play(c));
}

TEST(Vertical, OfMoreLocalStepsIsNotCentralLearning) {
  const Case c = case_of(3);
  Case central = c;
  central.plan.central = true;
  EXPECT_NE(play(central).blocks[1], play(c).blocks[1]) << "joint steps see each other, frozen ones do not";
}

TEST(Vertical, NeedsNoLabelsAtThePartiesForTheSameModel) {
  const Case c = case_of();
  Case head = c;
  head.plan.labels = LabelHolders::head;
  expect_same(play(head), play(c));
}

TEST(Vertical, StopsLearningWhereItIsLazy) {
  Case c = case_of();
  c.plan.lazy_after = 4;
  const Outcome lazy = play(c);
  expect_same(lazy, Serial(c).run());
  Case shorter = case_of();
  shorter.plan.rounds = 4;
  EXPECT_EQ(lazy.blocks, play(shorter).blocks);
}

TEST(Vertical, CountsBitsExactly) {
  constexpr double records = m * rounds - 2;
  constexpr double numbers = parties * width;
  const double head = static_cast<double>(LearningBlock(architecture_of(), 0).network().dimension());
  Case c = case_of();
  c.quantiser = "scalar:3";
  c.head_quantiser = "scalar:8";
  RoundBits bits = play(c).bits;
  if (world().rank() == 0) {
    const double up = 3 * numbers * records + rounds * parties * 64;
    EXPECT_EQ(bits.up, up);
    EXPECT_EQ(bits.down, up + rounds * (8 * head + 64));
  }
  c = case_of();
  c.plan.central = true;
  bits = play(c).bits;
  if (world().rank() == 0) {
    EXPECT_EQ(bits.up, 32 * records * (4 + 2 + 6));
    EXPECT_EQ(bits.down, 0);
  }
  c = case_of();
  c.plan.labels = LabelHolders::head;
  bits = play(c).bits;
  if (world().rank() == 0) {
    EXPECT_EQ(bits.up, 32 * records * numbers);
    EXPECT_EQ(bits.down, 32 * records * numbers);
  }
}

TEST(Vertical, EndsWhereANetworkRunsAway) {
  Case c = case_of();
  c.plan.step = 1e30;
  c.plan.step_power = 0;
  if (world().size() > 1) return;  // who finds it would have to tell the others
  const std::string message = message_of<DataError>([&] { return play(c); });
  EXPECT_THAT(message, HasSubstr("a network is not finite or has numbers beyond"));
}

TEST(Hindsight, FindsNetworksNoWorseThanTheLast) {
  const Layout layout = Layout::with_centre(parties, world().size());
  const Client first = layout.first(world().rank());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  const std::size_t centre = first == 0 && count > 0 ? 1 : 0;
  const auto fresh = [&] {
    return FixedVerticalStream(static_cast<std::size_t>(std::max<Client>(first - 1, 0)), count - centre,
                               world().rank() == 0);
  };
  const auto loss = make_target_loss("mse", outputs, outputs);
  const std::vector<Vector> last = Serial(case_of()).run().blocks;
  const MetricsPolicy shared(MetricsPolicy::Sharing::shared);
  const auto found = [&](std::int64_t passes) {
    Root root(world(), layout);
    FixedVerticalStream stream = fresh();
    return find_hindsight(root, stream, shared, architecture_of(), *loss, last,
                          {rounds, m, passes, [] { return true; }, 1e-2})
        .loss;
  };
  const double few = found(1);
  const double many = found(60);
  FixedVerticalStream stream = fresh();
  Root root(world(), layout);
  EXPECT_ERROR(UsageError, "--metrics shared",
               find_hindsight(root, stream, MetricsPolicy(MetricsPolicy::Sharing::local), architecture_of(), *loss,
                              last, {rounds, m, 1}));
  if (world().rank() != 0) return;
  const Vector played = Serial(case_of()).run().learned;
  double total = 0;
  for (const double each : played) total += each / m;
  EXPECT_LT(many, few);
  EXPECT_LT(many, 0.7 * total);
  EXPECT_GT(many, 0);
}

}  // namespace starling::vertical_test
