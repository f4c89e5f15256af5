#include "protocol/vertical/shared_learning.hpp"

#include <algorithm>
#include <cmath>

#include "codec/quantiser.hpp"
#include "core/numerics/kernels.hpp"
#include "data/vertical/vertical.hpp"
#include "loss/target_loss.hpp"
#include "net/peers/peers.hpp"
#include "net/root/root.hpp"
#include "privacy/histograms/range_histograms.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/without_noise.hpp"
#include "protocol/vertical/column_scales.hpp"
#include "protocol/vertical/vertical_predictions.hpp"

namespace starling {

namespace {

/// Of each row of the round that is loaded the number of records of its person; 0 for a row without a record. Empty
/// without persons.
std::vector<std::size_t> records_by_row(const VerticalStream& stream) {
  const std::span<const std::size_t> persons = stream.records_of_persons();
  std::vector<std::size_t> of_rows;
  for (const std::size_t records : persons) {
    const std::size_t places = stream.learning() / persons.size();
    of_rows.insert(of_rows.end(), records, records);
    of_rows.insert(of_rows.end(), places - records, 0);
  }
  return of_rows;
}

/// Takes the mean over outputs off each column of rows of weights, one row for each output.
void centre(Vector& w, std::size_t outputs) {
  const std::size_t columns = w.size() / outputs;
  for (std::size_t j = 0; j < columns; ++j) {
    double mean = 0;
    for (std::size_t c = 0; c < outputs; ++c) mean += w[c * columns + j] / static_cast<double>(outputs);
    for (std::size_t c = 0; c < outputs; ++c) w[c * columns + j] -= mean;
  }
}

/// A label as parties share it: 0 or 1 of two classes, the number of one of several, else the number itself.
double label_of(const TargetLoss& loss, double target) {
  if (!loss.classifies()) return target;
  if (loss.outputs() == 1) return target > 0 ? 1 : 0;
  return std::isnan(target) ? 0 : target;  // of a row without a record
}

}  // namespace

std::vector<SharedData> shared_data(VerticalStream& stream, std::size_t first, const std::vector<std::size_t>& columns,
                                    std::size_t labels_at, const TargetLoss& loss) {
  std::vector<SharedData> data(columns.size());
  for (Round t = 0;; ++t) {
    stream.load(t);
    const std::size_t count = stream.learning();
    if (count == 0) return data;
    const std::vector<std::size_t> of_rows = records_by_row(stream);
    for (std::size_t k = 0; k < data.size(); ++k) {
      data[k].records_of_person.insert(data[k].records_of_person.end(), of_rows.begin(), of_rows.end());
      const bool has_labels = first + k == labels_at;
      const std::size_t width = columns[k] - (has_labels ? 1 : 0);
      data[k].rows.update(
          [&](Vector& all, const Vector& inputs) {
            for (std::size_t i = 0; i < count; ++i) {
              const View row = View(inputs).subspan(i * width, width);
              all.insert(all.end(), row.begin(), row.end());
              if (has_labels) all.push_back(1);
            }
          },
          stream.inputs(k));
      if (!has_labels) continue;
      data[k].labels.update(
          [&](Vector& all, const Vector& targets) {
            for (std::size_t i = 0; i < count; ++i) {
              all.push_back(label_of(loss, targets[i]));
            }
          },
          stream.targets());
    }
  }
}

void SharedData::take_scales(std::vector<Standardisation> found, bool has_label) {
  if (has_label) {
    label_scale = {found.back().mean, found.back().deviation};  // not clipped: a prediction goes back to own units
    found.pop_back();
  }
  scales.clear();
  for (std::size_t i = 0; i < found.size(); ++i) {
    scales.resize(numbers[i] + 1);
    scales.back() = found[i];
  }
}

Vector sum_of_scores(std::size_t parties, std::size_t outputs) {
  Vector parameters((parties * outputs + 1) * outputs);
  for (std::size_t input = 0; input < parties * outputs; ++input) parameters[input * outputs + input % outputs] = 1;
  return parameters;
}

SharedLearning::SharedLearning(Root& root, Root& evaluation, Peers& peers, Accounts& accounts,
                               SharedGaussian& mechanism, std::function<double(Round)> prices,
                               std::vector<NoiseKey> keys, ShareKeys share_keys, const SharesTerms& terms,
                               const std::vector<SharedData>& data, const TargetLoss& loss, const SharedSteps& steps)
    : CentralRounds(root, root.aggregates() ? 1 : 0),
      evaluation_(evaluation),
      peers_(peers),
      accounts_(accounts),
      mechanism_(mechanism),
      prices_(std::move(prices)),
      keys_(std::move(keys)),
      share_keys_(std::move(share_keys)),
      terms_(terms),
      loss_(loss),
      steps_(steps),
      sum_of_scores_(sum_of_scores(parties(), terms.shape.outputs)),
      played_(root.aggregates() ? 1 : 0) {
  for (std::size_t local = 0; local < root.count(); ++local) {
    const Client client = root.first() + static_cast<Client>(local);
    if (client == 0) continue;
    const auto k = static_cast<std::size_t>(client - 1);
    const Released<Vector> zeros = declare_public(Vector(terms.shape.components(k)));
    parties_.push_back({client,
                        local,
                        data[parties_.size()],
                        {},
                        {},
                        {},
                        ShareHolder(terms, k, share_keys_.dealing(client)),
                        zeros,
                        zeros,
                        zeros});
  }
  if (!root.aggregates()) return;
  std::vector<NoiseKey> dealing;
  for (std::size_t k = 0; k < parties(); ++k) dealing.push_back(share_keys_.dealing(static_cast<Client>(k + 1)));
  dealer_.emplace(terms, dealing);
}

void SharedLearning::run(const std::vector<Observer*>& observers) {
  if (done_ == 0) show(observers);                                        // a resumed run has shown its state before
  for (std::size_t i = 0; i < scaled_in_.size(); ++i) release_counts(i);  // a resumed run makes the same again
  if (is_scaled()) begin_learning();
  while (goes_on(steps_.rounds)) {
    stepped_ = everybody_pays();
    if (stepped_ && is_scaled()) {
      play_round();
    } else if (stepped_) {
      scaled_in_.push_back(done_);
      release_counts(scaled_in_.size() - 1);
      if (is_scaled()) begin_learning();
    }
    completed(observers);
  }
}

/// Whether every party's budget allows the round. All ranks learn it, which keeps them in step.
bool SharedLearning::everybody_pays() {
  Released<Vector> paid = declare_public(Vector(1));
  std::size_t next = 0;
  Released<Vector> verdict = root_.sum(1, [&](std::size_t k) -> const Released<Vector>& {
    const bool dealer = root_.first() + static_cast<Client>(k) == 0;
    const bool pays = dealer || accounts_.pay(parties_[next++].local, done_).has_value();
    return paid = declare_public(Vector{pays ? 1.0 : 0.0});
  });
  verdict.update([](Vector& sum) { sum.resize(1); });
  root_.broadcast(verdict);
  return verdict.value()[0] == static_cast<double>(root_.clients());
}

// Party k's histograms cost μ √(d_k/d), for d_k of d columns: all parties' together cost μ at most.
void SharedLearning::release_counts(std::size_t number) {
  const Round t = scaled_in_[number];
  const bool within = static_cast<Round>(number) >= steps_.scale_rounds - steps_.within_rounds;
  const auto all = static_cast<double>(terms_.scaled_columns());
  const auto contributors = static_cast<std::int64_t>(terms_.contributors);
  for (Party& party : parties_) {
    const PartyRows rows{party.data.rows,
                         party.data.labels,
                         terms_.shape.columns[party.k()],
                         party.data.numbers,
                         has_numbers(party.k()),
                         party.data.records_of_person,
                         terms_.shape.records / terms_.contributors};
    const double part = std::sqrt(static_cast<double>(rows.scaled()) / all) * (1 - 0x1p-40);
    const auto add = [&](NoisyCounts& histograms, const Secret<Counts>& counts, Party::Histograms& sum) {
      Released<Vector> noisy = declare_public(Vector(histograms.length()));
      histograms.release({ReleasePath::vertical_shared_columns, party.client, t}, mechanism_.settings().run_id,
                         keys_[party.local], counts, noisy);
      sum.counts.resize(histograms.length());
      axpy(1, noisy.value(), sum.counts);
      sum.variance += histograms.deviation() * histograms.deviation();
    };
    if (!within) {
      FeatureHistograms octaves(rows.scaled(), prices_(t) * part, contributors);
      add(octaves, column_counts(octaves, rows), party.octaves);
      continue;
    }
    if (party.within.counts.empty()) party.sights = party.octaves.sights();
    const std::vector<ValueRange> ranges = party.sights.ranges();
    if (ranges.empty()) continue;
    RangeHistograms histograms(ranges, prices_(t) * part, contributors);
    add(histograms, party.sights.counts_within(histograms, rows), party.within);
  }
}

void SharedLearning::begin_learning() {
  for (Party& party : parties_) {
    if (!scaled_in_.empty()) {
      if (party.within.counts.empty()) {
        party.sights = party.octaves.sights();
      } else {
        party.sights.look_within(party.within.counts, std::sqrt(party.within.variance), terms_.contributors);
      }
      party.data.take_scales(party.sights.scales(), has_numbers(party.k()));
    }
    Secret<Vector> rows = party.data.rows;
    rows.update([&](Vector& all) { apply_scales(party.data.scales, terms_.shape.columns[party.k()], all); });
    Secret<Vector> labels = party.data.labels;
    labels.update([&](Vector& all) {
      for (double& y : all) y = party.data.label_scale.of(y);
    });
    party.holder.hold(rows, labels, party.data.records_of_person);
  }
  send_rows();
}

/// E_k = X_k − A_k of every party.
void SharedLearning::send_rows() {
  std::vector<PeerMessage> sent;
  std::vector<ExpectedMessage> expected;
  for (const Party& party : parties_) {
    const Masked words = party.holder.masked_rows();
    for (std::size_t q = 0; q < parties(); ++q) {
      const auto other = static_cast<Client>(q + 1);
      if (other == party.client) continue;
      sent.push_back({party.client, other,
                      share_keys_.hide(words, party.client, other, 0, static_cast<std::uint32_t>(Step::rows))});
      expected.push_back({other, party.client, terms_.shape.records * terms_.shape.columns[q]});
    }
  }
  std::vector<std::vector<Word>> received = peers_.exchange(sent, expected);
  for (std::size_t i = 0; i < received.size(); ++i) {
    const Client to = expected[i].to;
    const Client from = expected[i].from;
    share_keys_.show(received[i], from, to, 0, static_cast<std::uint32_t>(Step::rows));
    const auto party = std::find_if(parties_.begin(), parties_.end(), [to](const Party& p) { return p.client == to; });
    party->holder.take_rows(static_cast<std::size_t>(from - 1), std::move(received[i]));
  }
}

// docs/methods/shares.md, "A round".
void SharedLearning::play_round() {
  const std::size_t slopes = terms_.shape.slopes();
  const std::vector<Word> correction = deal();
  for (Party& party : parties_) party.holder.begin(done_, correction);

  const auto e = open_among_all(Step::arguments, 2 * slopes,
                                [](Party& party) { return party.holder.masked_arguments(party.w.value()); });
  const auto c = open_among_all(Step::slopes, 2 * slopes, [&](Party& party) {
    return party.holder.masked_slopes(e[static_cast<std::size_t>(&party - parties_.data())]);
  });
  const auto f = open_among_all(Step::factors, slopes, [&](Party& party) {
    return party.holder.masked_factors(c[static_cast<std::size_t>(&party - parties_.data())]);
  });
  for (std::size_t i = 0; i < parties_.size(); ++i) parties_[i].holder.take_factors(f[i]);
  open_gradients();
}

std::vector<Word> SharedLearning::deal() {
  const auto last = static_cast<Client>(parties());
  const auto step = static_cast<std::uint32_t>(Step::correction);
  std::vector<PeerMessage> sent;
  std::vector<ExpectedMessage> expected;
  if (dealer_) {
    const Masked words = timed(&TimeShares::learning, [&] {
      return dealer_->deal(done_, mechanism_, address(0, 0), prices_(done_), keys_[0]);
    });
    sent.push_back({0, last, share_keys_.hide(words, 0, last, done_, step)});
  }
  const bool takes = !parties_.empty() && parties_.back().client == last;
  if (takes) expected.push_back({0, last, terms_.shape.correction()});
  std::vector<std::vector<Word>> received = peers_.exchange(sent, expected);
  if (!takes) return {};
  share_keys_.show(received[0], 0, last, done_, step);
  return std::move(received[0]);
}

std::vector<SharedLearning::OfOthers> SharedLearning::open_among_all(Step step, std::size_t count,
                                                                     const std::function<Masked(Party&)>& words) {
  const auto number = static_cast<std::uint32_t>(step);
  std::vector<PeerMessage> sent;
  std::vector<ExpectedMessage> expected;
  for (Party& party : parties_) {
    const Masked own = timed(&TimeShares::learning, [&] { return words(party); });
    for (Client other = 1; other <= static_cast<Client>(parties()); ++other) {
      if (other == party.client) continue;
      sent.push_back({party.client, other, share_keys_.hide(own, party.client, other, done_, number)});
      expected.push_back({other, party.client, count});
    }
    root_.still_here();
  }
  std::vector<std::vector<Word>> received = peers_.exchange(sent, expected);
  std::vector<OfOthers> of_others(parties_.size());
  for (std::size_t i = 0; i < received.size(); ++i) {
    share_keys_.show(received[i], expected[i].from, expected[i].to, done_, number);
    of_others[i / (parties() - 1)].push_back(std::move(received[i]));
  }
  return of_others;
}

void SharedLearning::open_gradients() {
  const auto number = static_cast<std::uint32_t>(Step::gradients);
  std::vector<PeerMessage> sent;
  std::vector<ExpectedMessage> expected;
  std::vector<OfOthers> shares(parties_.size());
  for (std::size_t i = 0; i < parties_.size(); ++i) {
    const Party& party = parties_[i];
    for (std::size_t of = 0; of < parties(); ++of) {
      const auto owner = static_cast<Client>(of + 1);
      const Masked share =
          party.holder.gradient_share(of, mechanism_, address(party.client, of), prices_(done_), keys_[party.local]);
      if (owner == party.client) {
        shares[i].push_back(share.words());
        continue;
      }
      sent.push_back({party.client, owner, share_keys_.hide(share, party.client, owner, done_, number)});
      expected.push_back({owner, party.client, terms_.shape.components(party.k())});
    }
  }
  std::vector<std::vector<Word>> received = peers_.exchange(sent, expected);
  for (std::size_t i = 0; i < received.size(); ++i) {
    share_keys_.show(received[i], expected[i].from, expected[i].to, done_, number);
    shares[i / (parties() - 1)].push_back(std::move(received[i]));
  }
  for (std::size_t i = 0; i < parties_.size(); ++i) {
    step(parties_[i], opened_gradient(parties_[i], std::move(shares[i])));
  }
}

Released<Vector> SharedLearning::opened_gradient(const Party& party, OfOthers shares) const {
  std::vector<Word> total(terms_.shape.components(party.k()));
  for (const std::vector<Word>& share : shares) add_words(share, std::span<Word>(total));
  return mechanism_.open(total);
}

void SharedLearning::step(Party& party, const Released<Vector>& gradient) {
  party.velocity.update(
      [m = steps_.momentum](Vector& v, const Vector& g) {
        for (std::size_t j = 0; j < v.size(); ++j) v[j] = m * v[j] + g[j];
      },
      gradient);
  party.w.update(
      [eta = steps_.step, outputs = terms_.shape.outputs, ball = terms_.ball_of_all(party.k())](Vector& w,
                                                                                                const Vector& v) {
        axpy(-eta, v, w);
        if (outputs > 1) centre(w, outputs);
        double squares = 0;
        for (const double each : w) squares += each * each;
        const double norm = std::sqrt(squares);
        if (norm <= ball) return;
        for (double& each : w) each *= ball / norm;
      },
      party.velocity);
  if (done_ >= steps_.first_of_mean()) party.sum.update([](Vector& sum, const Vector& w) { axpy(1, w, sum); }, party.w);
}

Vector SharedLearning::final_model(const Party& party) const {
  const Round count = done_ - steps_.first_of_mean();
  Vector mean = count > 0 ? party.sum.value() : party.w.value();
  if (count > 0) scale(1 / static_cast<double>(count), mean);
  return mean;
}

void SharedLearning::completed(const std::vector<Observer*>& observers) {
  if (!stepped_ && done_ >= steps_.first_of_mean()) {
    for (Party& party : parties_) party.sum.update([](Vector& sum, const Vector& w) { axpy(1, w, sum); }, party.w);
  }
  if (root_.aggregates() && stepped_) played_.rounds[0].add(done_);
  ++done_;
  watch_.lap(shares_.exchange);
  show(observers);
  watch_.lap(shares_.observing);
}

void SharedLearning::show(const std::vector<Observer*>& observers) {
  for (Observer* observer : observers) observer->after(*this);
}

void SharedLearning::persist(Snapshot& snapshot) {
  snapshot(done_, stepped_, scaled_in_, shares_, played_.tallies, played_.objectives, played_.rounds, root_,
           evaluation_, peers_);
  for (Party& party : parties_) snapshot(party.w, party.velocity, party.sum);
}

std::vector<std::pair<Client, Released<Vector>>> SharedLearning::parts() const {
  std::vector<std::pair<Client, Released<Vector>>> parts;
  for (const Party& party : parties_) {
    parts.emplace_back(party.client, post_process([&](const Vector&) { return final_model(party); }, party.w));
  }
  return parts;
}

std::vector<std::pair<Client, std::vector<Standardisation>>> SharedLearning::scales() const {
  std::vector<std::pair<Client, std::vector<Standardisation>>> scales;
  for (const Party& party : parties_) scales.emplace_back(party.client, party.data.scales);
  return scales;
}

std::vector<std::pair<Client, std::vector<std::size_t>>> SharedLearning::unresolved() const {
  std::vector<std::pair<Client, std::vector<std::size_t>>> columns;
  for (const Party& party : parties_) columns.emplace_back(party.client, party.sights.unresolved());
  return columns;
}

std::vector<std::pair<Client, Secret<std::int64_t>>> SharedLearning::clipped() const {
  std::vector<std::pair<Client, Secret<std::int64_t>>> counts;
  for (const Party& party : parties_) counts.emplace_back(party.client, party.holder.clipped());
  return counts;
}

std::optional<Standardisation> SharedLearning::label_scale() const {
  for (const Party& party : parties_) {
    if (has_numbers(party.k())) return party.data.label_scale;
  }
  return std::nullopt;
}

Score SharedLearning::predict(VerticalStream& held_out, const Standardisation& label_scale,
                              const std::function<void(View outputs, View targets)>& look) {
  Score total;
  Released<Vector> targets = declare_public(Vector());
  Secret<Vector> scores;
  const std::size_t outputs = terms_.shape.outputs;
  const auto scores_of = [&](std::size_t hosted) -> const Secret<Vector>& {
    const Party& party = parties_[hosted];
    const Vector w = final_model(party);
    const std::size_t columns = terms_.shape.columns[party.k()];
    const bool intercept = party.k() == terms_.labels_at;
    const std::size_t width = columns - (intercept ? 1 : 0);
    const double bound = terms_.row_bounds[party.k()];
    scores.update(
        [&](Vector& z, const Vector& raw) {
          Vector inputs = raw;
          apply_scales(party.data.scales, width, inputs);
          z.resize(held_out.learning() * outputs);
          for (std::size_t at = 0; at < z.size(); ++at) {
            const View row = View(inputs).subspan(at / outputs * width, width);
            const View of_output = View(w).subspan(at % outputs * columns, columns);
            const double length = std::sqrt(dot(row, row) + 1);
            const double whole = (intercept ? of_output.back() : 0.0) + dot(row, of_output.first(width));
            z[at] = whole * std::min(1.0, bound / length);
          }
        },
        held_out.inputs(hosted));
    return scores;
  };
  const auto take = [&](const std::vector<Vector>& received) {
    DeclaredPublic::publish(held_out.targets(), targets);
    for (std::size_t i = 0; i < held_out.learning(); ++i) {
      if (is_left_out(View(targets.value()).subspan(i, 1))) continue;
      const Vector truth{label_scale.of(targets.value()[i])};
      Vector z(outputs);
      for (const Vector& of_party : received) axpy(1, View(of_party).subspan(i * outputs, outputs), z);
      total += score_of_record(loss_.value(z, truth), loss_.classifies() && loss_.correct(z, truth));
      look(z, truth);
    }
  };
  const std::unique_ptr<Quantiser> exact = quantiser_table().make("double");
  send_held_out(evaluation_, held_out, {std::vector<std::size_t>(parties(), outputs), *exact, scores_of, take});
  return total;
}

}  // namespace starling
