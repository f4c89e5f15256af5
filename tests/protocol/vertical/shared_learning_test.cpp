// Learning on shares against a plain loop with the same polynomial, on any number of ranks; and what each one sees.
#include "protocol/vertical/shared_learning.hpp"

#include <cmath>

#include "core/random.hpp"
#include "data/vertical/vertical.hpp"
#include "loss/target_loss.hpp"
#include "net/agreement.hpp"
#include "net/peers/peers.hpp"
#include "net/root/root.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/masking.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::shared_learning_test {

using namespace testing_support;

constexpr std::size_t parties = 3;
constexpr double price = 0.5;

struct Case {
  std::size_t records = 60;
  Round rounds = 12;
  bool residual = false;
  bool noisy = false;
  std::uint64_t table = 1;
  std::size_t outputs = 1;
  bool by_persons = false;  ///< persons with three rows each, of which one, two or three have a record
};

constexpr std::size_t places = 3;

std::vector<std::size_t> records_of_person(const Case& c) {
  std::vector<std::size_t> of_rows;
  for (std::size_t i = 0; c.by_persons && i < c.records; ++i) {
    const std::size_t records = 1 + i / places % places;
    of_rows.push_back(i % places < records ? records : 0);
  }
  return of_rows;
}

SharesTerms terms_of(const Case& c) {
  SharesTerms terms;
  terms.shape = {c.records, {3, 2, 4}, c.residual ? 1 : 7, c.outputs};
  terms.contributors = c.by_persons ? c.records / places : c.records;
  terms.row_bounds = {1.5, 1.25, 1.75};
  terms.balls = {1, 1, 1.5};
  terms.residual = c.residual;
  terms.label_bound = c.residual || c.outputs > 1 ? 2 : 1;
  terms.labels_at = 1;
  const double scale = terms.argument_scale();
  const auto slope = [scale, residual = c.residual](double u) {
    return residual ? u * scale : 1 / (1 + std::exp(-u * scale));
  };
  terms.slope = std::make_shared<SlopePolynomial>(slope, terms.shape.degree, terms.fraction_bits);
  return terms;
}

Vector rows_of(const Case& c, std::size_t k) {
  const SharesTerms terms = terms_of(c);
  AddressedRandom random(c.table, Purpose::experiment, k, 0);
  Vector rows(c.records * terms.shape.columns[k]);
  for (double& x : rows) x = random.normal();
  if (k == terms.labels_at) {
    for (std::size_t i = 1; i < rows.size(); i += 2) rows[i] = 1;  // the last of two columns
  }
  return rows;
}

Vector labels_of(const Case& c, std::size_t k) {
  if (k != terms_of(c).labels_at) return {};
  const Vector x = rows_of(c, 0);
  Vector labels;
  for (std::size_t i = 0; i < c.records; ++i) {
    const double score = x[3 * i] + 0.5 * x[3 * i + 1];
    const double own = c.outputs > 1 ? (score > 0.5 ? 2 : score > -0.5 ? 1 : 0) : score > 0 ? 1 : 0;
    labels.push_back(c.residual ? x[3 * i] : own);
  }
  return labels;
}

SharedSteps steps_of(const Case& c) {
  return {c.rounds, c.residual ? 0.15 : 0.6, 0.5};
}

/// The words that clients receive, and when.
class WatchedPeers final : public Peers {
 public:
  using Peers::Peers;
  std::vector<std::vector<std::uint64_t>> exchange(const std::vector<PeerMessage>& sent,
                                                   const std::vector<ExpectedMessage>& expected) override {
    auto received = Peers::exchange(sent, expected);
    for (std::size_t i = 0; i < expected.size(); ++i) seen.push_back({expected[i], received[i]});
    return received;
  }
  struct Seen {
    ExpectedMessage message;
    std::vector<std::uint64_t> words;
  };
  std::vector<Seen> seen;
};

struct Outcome {
  std::vector<Vector> models;            ///< of all parties
  std::vector<WatchedPeers::Seen> seen;  ///< of this rank's clients, without pads
  std::vector<NoiseKey> dealing;         ///< of parties, on one rank
};

/// The steps of a round in the order of exchanges, and the one that stands before all rounds.
constexpr std::uint32_t correction = 0;
constexpr std::uint32_t arguments = 1;
constexpr std::uint32_t slopes = 2;
constexpr std::uint32_t factors = 3;
constexpr std::uint32_t gradients = 4;
constexpr std::uint32_t row_masks = 5;

ShareKeys share_keys(const std::vector<NoiseKey>& keys, Client first, const std::vector<SharedData>& data) {
  std::vector<MaskKey> own;
  std::size_t party = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const bool dealer = first + static_cast<Client>(k) == 0;
    const SharedData none;
    const SharedData& held = dealer ? none : data[party++];
    own.push_back(DataKeys::of(keys[k], "shares test", held.rows, held.labels, held.records_of_person));
  }
  Agreement agreement(world());
  const auto all =
      received_keys(own, [&](const std::string& text) { return agreement.all_gather(declare_public(text)); });
  return ShareKeys(own, first, all);
}

Layout one_rank_each() {
  return Layout::with_centre(parties, world().size());
}

/// All clients on rank 0.
Layout all_on_one() {
  std::vector<Client> firsts(static_cast<std::size_t>(world().size()) + 1, parties + 1);
  firsts[0] = 0;
  return Layout::of_blocks(firsts);
}

Outcome play(const Case& c, const Layout& layout = one_rank_each()) {
  const Client first = layout.first(world().rank());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  const SharesTerms terms = terms_of(c);
  const ReleaseSettings settings{.price = PriceRange::of(price),
                                 .clip = 3,
                                 .batch = c.records,
                                 .dimension = terms.shape.all_components(),
                                 .rounds = c.rounds,
                                 .run_id = "shares test"};
  SharedGaussian mechanism(settings, terms.sum_terms(c.noisy));
  Accounts accounts(mechanism, Prices::parse("0.5", "price", c.rounds, layout.clients(), 0, 1e6), c.rounds, first,
                    std::vector<ServedRounds>(count));
  std::vector<NoiseKey> keys;
  std::vector<SharedData> data;
  for (std::size_t k = 0; k < count; ++k) {
    const Client u = first + static_cast<Client>(k);
    keys.push_back(NoiseKey::from_seed(1, u));
    if (u == 0) continue;
    const auto party = static_cast<std::size_t>(u - 1);
    data.push_back({Secret<Vector>(rows_of(c, party)), Secret<Vector>(labels_of(c, party)), records_of_person(c)});
  }
  Root root(world(), layout);
  Root evaluation(world(), layout);
  WatchedPeers peers(world(), layout);
  const ShareKeys pairs = share_keys(keys, first, data);
  const auto loss = make_target_loss(c.residual ? "squared" : c.outputs > 1 ? "softmax" : "logistic", c.outputs, 1);
  SharedLearning protocol(
      root, evaluation, peers, accounts, mechanism, [](Round) { return price; }, keys, pairs, terms, data, *loss,
      steps_of(c));
  protocol.run({});
  EXPECT_EQ(protocol.done(), c.rounds);

  Outcome outcome;
  outcome.models.resize(parties);
  Vector own;
  for (const auto& [client, model] : protocol.parts()) {
    own.push_back(client);
    own.insert(own.end(), model.value().begin(), model.value().end());
  }
  for (const Vector& of_rank : Agreement(world()).all_gather(declare_public(own))) {
    for (std::size_t from = 0; from < of_rank.size();) {
      const auto k = static_cast<std::size_t>(of_rank[from] - 1);
      const auto begin = of_rank.begin() + static_cast<std::ptrdiff_t>(from + 1);
      outcome.models[k].assign(begin, begin + static_cast<std::ptrdiff_t>(terms.shape.components(k)));
      from += 1 + terms.shape.components(k);
    }
  }
  if (world().size() > 1) return outcome;
  // Six messages before the rounds; in each one of the dealer, and six of parties in each of four steps.
  for (std::size_t i = 0; i < peers.seen.size(); ++i) {
    WatchedPeers::Seen seen = peers.seen[i];
    const std::size_t of_round = i < 6 ? 0 : (i - 6) % 25;
    const Round t = i < 6 ? 0 : static_cast<Round>((i - 6) / 25);
    const auto step = i < 6           ? row_masks
                      : of_round == 0 ? correction
                                      : static_cast<std::uint32_t>(1 + (of_round - 1) / 6);
    pairs.show(seen.words, seen.message.from, seen.message.to, t, step);
    outcome.seen.push_back(std::move(seen));
  }
  for (Client u = 1; u <= static_cast<Client>(parties); ++u) outcome.dealing.push_back(pairs.dealing(u));
  return outcome;
}

/// The same with all columns in one place, in doubles: the rounded rows, and the polynomial at the rounded argument.
std::vector<Vector> plain_loop(const Case& c) {
  const SharesTerms terms = terms_of(c);
  const std::vector<std::size_t> of_rows = records_of_person(c);
  std::vector<Vector> x;
  for (std::size_t k = 0; k < parties; ++k) {
    x.push_back(shared_rows(rows_of(c, k), terms.shape.columns[k], k == terms.labels_at, terms.row_bounds[k],
                            terms.fraction_bits)
                    .numbers);
  }
  const Vector y = labels_of(c, terms.labels_at);
  const SharedSteps steps = steps_of(c);
  std::vector<Vector> w;
  for (std::size_t k = 0; k < parties; ++k) w.emplace_back(terms.shape.components(k));
  std::vector<Vector> v = w;
  std::vector<Vector> mean = w;
  for (Round t = 0; t < c.rounds; ++t) {
    std::vector<Vector> g;
    for (std::size_t k = 0; k < parties; ++k) g.emplace_back(terms.shape.components(k));
    for (std::size_t at = 0; at < c.outputs * c.records; ++at) {
      const std::size_t i = at / c.outputs;
      const std::size_t output = at % c.outputs;
      std::int64_t argument = 0;
      for (std::size_t k = 0; k < parties; ++k) {
        const std::size_t d = terms.shape.columns[k];
        double score = 0;
        for (std::size_t j = 0; j < d; ++j) score += x[k][i * d + j] * w[k][output * d + j];
        if (c.residual && k == terms.labels_at) score -= std::clamp(y[i], -terms.label_bound, terms.label_bound);
        argument += static_cast<std::int64_t>(std::nearbyint(score / terms.argument_scale() * 32768));
      }
      double slope = std::ldexp(static_cast<double>(terms.slope->at(argument)), -terms.fraction_bits);
      if (!c.residual) slope -= c.outputs == 1 ? y[i] : y[i] == static_cast<double>(output) ? 1 : 0;
      if (c.by_persons) slope = of_rows[i] == 0 ? 0 : slope / static_cast<double>(of_rows[i]);
      for (std::size_t k = 0; k < parties; ++k) {
        const std::size_t d = terms.shape.columns[k];
        for (std::size_t j = 0; j < d; ++j) {
          g[k][output * d + j] += slope * x[k][i * d + j] / static_cast<double>(terms.contributors);
        }
      }
    }
    for (std::size_t k = 0; k < parties; ++k) {
      const std::size_t d = terms.shape.columns[k];
      double squares = 0;
      for (std::size_t j = 0; j < w[k].size(); ++j) {
        v[k][j] = steps.momentum * v[k][j] + g[k][j];
        w[k][j] -= steps.step * v[k][j];
      }
      for (std::size_t j = 0; c.outputs > 1 && j < d; ++j) {
        double centre = 0;
        for (std::size_t e = 0; e < c.outputs; ++e) centre += w[k][e * d + j] / static_cast<double>(c.outputs);
        for (std::size_t e = 0; e < c.outputs; ++e) w[k][e * d + j] -= centre;
      }
      for (const double each : w[k]) squares += each * each;
      const double ball = terms.balls[k] * (c.outputs > 1 ? std::sqrt(1.5) : 1);
      const double scale = std::min(1.0, ball / std::sqrt(squares));
      for (std::size_t j = 0; j < w[k].size(); ++j) {
        w[k][j] *= scale;
        if (t >= steps.first_of_mean()) mean[k][j] += w[k][j] / static_cast<double>(c.rounds - steps.first_of_mean());
      }
    }
  }
  return mean;
}

enum class Labels { subtracted, in_the_argument, classes };

/// What labels are, and whether records are grouped by persons.
class Learning : public testing::TestWithParam<std::tuple<Labels, bool>> {};

TEST_P(Learning, IsThePlainLoopToThePrecisionOfTheFixedPoint) {
  const auto [labels, by_persons] = GetParam();
  const Case c{.residual = labels == Labels::in_the_argument,
               .outputs = labels == Labels::classes ? 3U : 1U,
               .by_persons = by_persons};
  const Outcome outcome = play(c);
  const std::vector<Vector> expected = plain_loop(c);
  double largest = 0;
  for (std::size_t k = 0; k < parties; ++k) {
    for (std::size_t j = 0; j < expected[k].size(); ++j) {
      // A sum that falls on the other side of a half moves an argument by 2^-15 of its range.
      EXPECT_NEAR(outcome.models[k][j], expected[k][j], 2e-4);
      largest = std::max(largest, std::abs(expected[k][j]));
    }
  }
  EXPECT_GT(largest, 0.3);
}
INSTANTIATE_TEST_SUITE_P(Losses, Learning,
                         testing::Combine(testing::Values(Labels::subtracted, Labels::in_the_argument, Labels::classes),
                                          testing::Bool()));

/// Rows of the model of several outputs are each within the ball, and add up to 0.
TEST(SharedLearning, CentresClasses) {
  const Case c{.rounds = 24, .outputs = 3};
  const SharesTerms terms = terms_of(c);
  const Outcome outcome = play(c);
  for (std::size_t k = 0; k < parties; ++k) {
    const std::size_t d = terms.shape.columns[k];
    for (std::size_t j = 0; j < d; ++j) {
      EXPECT_NEAR(outcome.models[k][j] + outcome.models[k][d + j] + outcome.models[k][2 * d + j], 0, 1e-12);
    }
    for (std::size_t e = 0; e < 3; ++e) {
      double squares = 0;
      for (std::size_t j = 0; j < d; ++j) squares += outcome.models[k][e * d + j] * outcome.models[k][e * d + j];
      EXPECT_LE(std::sqrt(squares), terms.balls[k] * (1 + 1e-12));
    }
  }
}

/// The same bits wherever clients are, with noise.
TEST(SharedLearning, HasTheSameBitsInAnyLayout) {
  const Outcome here = play({.noisy = true});
  EXPECT_EQ(here.models, play({.noisy = true}, all_on_one()).models);
  EXPECT_EQ(here.models[0].size(), 3U);
  EXPECT_NE(here.models, play({.noisy = false}).models);
}

/// Counts of the top bits of words; uniform words have equal ones. χ² of 15 degrees of freedom exceeds 45 with a
/// probability below 1e-4.
double chi_square(const std::vector<Word>& words) {
  std::vector<double> counts(16);
  for (const Word word : words) ++counts[word >> 60];
  const double expected = static_cast<double>(words.size()) / 16;
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

std::vector<Word> words_for(const Outcome& outcome, Client to, std::size_t from_place, std::size_t end_place) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < outcome.seen.size(); ++i) {
    const std::size_t place = i < 6 ? i : 6 + (i - 6) % 25;
    if (outcome.seen[i].message.to != to || place < from_place || place >= end_place) continue;
    words.insert(words.end(), outcome.seen[i].words.begin(), outcome.seen[i].words.end());
  }
  return words;
}

/// All that each party receives but the sums, with two tables that have nothing in common: columns, correction, and the
/// three openings of a round.
TEST(SharedViews, OfTwoTablesAreEquallyDistributed) {
  if (world().size() > 1) return;
  for (const std::uint64_t table : {1, 2}) {
    const Outcome outcome = play({.records = 400, .rounds = 4, .table = table});
    for (const WatchedPeers::Seen& seen : outcome.seen) EXPECT_NE(seen.message.to, 0) << "the dealer receives nothing";
    for (Client party = 1; party <= static_cast<Client>(parties); ++party) {
      EXPECT_LT(chi_square(words_for(outcome, party, 0, 6)), 45) << "columns";
      EXPECT_LT(chi_square(words_for(outcome, party, 7, 13)), 45) << "arguments";
      EXPECT_LT(chi_square(words_for(outcome, party, 13, 19)), 45) << "slopes";
      EXPECT_LT(chi_square(words_for(outcome, party, 19, 25)), 45) << "factors";
    }
    EXPECT_LT(chi_square(words_for(outcome, parties, 6, 7)), 45) << "correction";
  }
}

/// Each word that a party receives is a number of another plus a uniform word of the other's keystream, which serves
/// once: exactly.
TEST(SharedViews, AreSecretsUnderWordsOfTheirOwn) {
  if (world().size() > 1) return;
  const Case c{.records = 50, .rounds = 3};
  const SharesTerms terms = terms_of(c);
  const Outcome outcome = play(c);
  std::vector<DealtStream> streams;
  for (std::size_t k = 0; k < parties; ++k) streams.emplace_back(outcome.dealing[k], terms.shape, k + 1 == parties);
  for (std::size_t i = 0; i < outcome.seen.size(); ++i) {
    const auto& [message, words] = outcome.seen[i];
    if (message.from == 0) continue;
    const auto from = static_cast<std::size_t>(message.from - 1);
    if (i < 6) {
      std::vector<Word> plain = words;
      add_words(streams[from].row_masks(terms.shape.columns[from]), std::span<Word>(plain));
      EXPECT_EQ(plain, shared_rows(rows_of(c, from), terms.shape.columns[from], from == terms.labels_at,
                                   terms.row_bounds[from], terms.fraction_bits)
                           .words);
      continue;
    }
    const std::size_t place = (i - 6) % 25;
    const auto t = static_cast<Round>((i - 6) / 25);
    if (place < 1 || place > 6) continue;  // the arguments
    std::vector<WideWord> plain = from_halves(words);
    add_words(streams[from].round(t).arguments, std::span<WideWord>(plain));
    for (const WideWord each : plain) {
      const auto argument = static_cast<SignedWide>(each);
      EXPECT_LE(argument < 0 ? -argument : argument, SignedWide{terms.most_argument(from)});
    }
  }
}

}  // namespace starling::shared_learning_test
