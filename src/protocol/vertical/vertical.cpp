#include "protocol/vertical/vertical.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "core/numerics/kernels.hpp"
#include "data/vertical/vertical.hpp"
#include "graph/overlays/attendance.hpp"
#include "loss/target_loss.hpp"
#include "model/network/network_block.hpp"
#include "net/root/root.hpp"
#include "privacy/clip_rows.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "privacy/without_noise.hpp"

namespace starling {

bool VerticalPlan::is_absent(Client u, Round t) const {
  return absences && absences->absent(u, t);
}

VerticalParts add_vertical_parts(MultipartMechanism& mechanism, const VerticalArchitecture& architecture,
                                 const VerticalPlan& plan) {
  using Scale = MultipartMechanism::Scale;
  const double clip = mechanism.settings().clip;
  const double embedding_clip = mechanism.price_kind() == PriceKind::none ? clip : plan.embedding_clip;
  const auto dimension = [&](const Architecture& of) {
    return make_network_block(of, architecture.precision)->dimension();
  };
  VerticalParts parts;
  for (const Architecture& party : architecture.features) {
    const std::size_t width = architecture.head.input.size() / architecture.parties();
    parts.sent.push_back(plan.central ? mechanism.add("columns", clip, plan.batch * party.input.size(), Scale::rows)
                                      : mechanism.add("embedding", embedding_clip, plan.rows() * width, Scale::rows));
    parts.gradients.push_back(mechanism.add("gradient of a party", clip, dimension(party)));
  }
  const bool secret = plan.labels == LabelHolders::head;
  if (secret || plan.central) parts.head = mechanism.add("gradient of the head", clip, dimension(architecture.head));
  if (secret) {
    parts.derivatives =
        mechanism.add("derivatives by embeddings", clip, plan.rows() * architecture.head.input.size(), Scale::rows);
  }
  return parts;
}

namespace {

/// A network on the rows of a round, M × inputs, with the derivatives of the loss by its outputs, M × outputs.
struct PlayedRows {
  View parameters;
  View inputs;
  View d_outputs;
};

/// The persons of a round: each has `places` rows, of which the first ones hold its records.
struct PersonRows {
  std::span<const std::size_t> records;  ///< of each person
  std::size_t places = 1;
};

/// Writes Σ_p clip(g_p) into `gradient` (resized to the network's dimension), where g_p is the mean of the gradients of
/// person p's records. Records out of range add nothing to the mean. A person without a record, or whose mean is out of
/// range, adds zero. Returns the number of records and persons out of range.
///
/// Sensitivity. A person's part depends on this person's rows alone, and is a vector of doubles that clip_rows has
/// clipped to the bound. Parts are added in double. So the requirements of privacy/noise/grid.hpp hold with persons in
/// place of records.
std::size_t add_persons(NetworkBlock& network, const PlayedRows& rows, const PersonRows& persons, const Clip& clip,
                        Vector& gradient);

std::size_t add_persons(NetworkBlock& network, const PlayedRows& rows, const PersonRows& persons, const Clip& clip,
                        Vector& gradient) {
  const Clip unclipped{clip.kind, std::numeric_limits<double>::infinity()};  // leaves out what is out of range
  Vector part;
  std::size_t out_of_range = 0;
  gradient.assign(network.dimension(), 0.0);
  for (std::size_t p = 0; p < persons.records.size(); ++p) {
    const std::size_t first = p * persons.places;
    const std::size_t count = persons.records[p];
    if (count == 0) continue;
    const auto own = [&](View all, std::size_t width) { return all.subspan(first * width, count * width); };
    network.forward(rows.parameters, own(rows.inputs, network.inputs()));
    const std::size_t left_out = network.gradient(own(rows.d_outputs, network.outputs()), unclipped, part);
    for (double& entry : part) entry /= static_cast<double>(count);
    out_of_range += left_out + clip_rows(part, part.size(), clip);
    axpy(1, part, gradient);
  }
  return out_of_range;
}

}  // namespace

Vertical::Vertical(Root& root, Root& evaluation, VerticalStream& stream, Accounts& accounts,
                   MultipartMechanism& mechanism, std::vector<NoiseKey> keys, const VerticalArchitecture& architecture,
                   const TargetLoss& loss, VerticalWire wire, const VerticalPlan& plan)
    : CentralRounds(root, root.aggregates() ? 1 : 0),
      evaluation_(evaluation),
      stream_(stream),
      accounts_(accounts),
      mechanism_(mechanism),
      keys_(std::move(keys)),
      loss_(loss),
      wire_(std::move(wire)),
      plan_(plan),
      precision_(architecture.precision),
      width_(architecture.head.input.size() / architecture.parties()),
      head_(architecture, 0),
      head_loss_(head_.network(), loss),
      parts_(add_vertical_parts(mechanism, architecture, plan)),
      messages_(declare_public(std::vector<std::byte>())),
      representation_(messages_),
      nothing_(messages_),
      theta_hat_(declare_public(Vector(head_.network().dimension()))),
      released_(declare_public(Vector())),
      sent_(released_),
      direction_(released_) {
  for (const Architecture& party : architecture.features) widths_.push_back(party.input.size());
  host_parties(architecture);
  if (!root.aggregates()) return;
  if (plan.central) joint_.emplace(architecture, loss);
  played_ = Played(1);
}

void Vertical::host_parties(const VerticalArchitecture& architecture) {
  for (std::size_t local = 0; local < root_.count(); ++local) {
    const Client client = root_.first() + static_cast<Client>(local);
    if (client == 0) continue;
    Party party{client, local, parties_.size()};
    if (!plan_.central) party.block.emplace(architecture, static_cast<std::size_t>(client));
    parties_.push_back(std::move(party));
  }
}

// Wang and Xu 2023, Algorithm 1 (docs/methods/vertical.md, "Algorithm").
void Vertical::run(const std::vector<Observer*>& observers) {
  if (done_ == 0) show(observers);  // a resumed run has shown its state before
  while (goes_on(plan_.rounds)) {
    open_round();
    collect(root_, 0, records_);  // lines 5 to 11: ĥ_k = Q(h_k(θ_k; x_k)) of all parties
    predict();                    // with θ_0, before any label is used
    if (learns()) {
      send_back();                                            // line 12: Φ̂, or ∂F/∂h_k
      for (Round e = 0; e < plan_.local_steps; ++e) step(e);  // lines 13 to 18: θ_k ← θ_k − η_t ∇_k F
    } else {
      keep_in_step();
    }
    test();
    completed(observers);
  }
}

void Vertical::persist(Snapshot& snapshot) {
  snapshot(done_, stepped_, head_, bits_, total_, messages_looked_at_, of_one_level_, largest_sent_, largest_jump_,
           learned_, tested_, predictions_, shares_, played_.tallies, played_.objectives, played_.rounds, root_,
           evaluation_);
  for (Party& party : parties_) {
    snapshot(party.out_of_range);
    if (party.block) snapshot(*party.block);
  }
  if (joint_) snapshot(*joint_);
}

/// Reads the records of the round, and pays for their releases.
void Vertical::open_round() {
  stream_.load(done_);
  records_ = stream_.learning();
  stepped_ = false;
  for (Party& party : parties_) {
    party.price = plan_.is_absent(party.client, done_) ? std::nullopt : accounts_.pay(party.local, done_);
  }
  const bool releases_labels = plan_.labels == LabelHolders::head || plan_.central;
  if (root_.aggregates()) head_price_ = releases_labels ? accounts_.pay(0, done_) : std::nullopt;
}

bool Vertical::learns() const {
  return !plan_.lazy_after || done_ < *plan_.lazy_after;
}

/// On rank 0: scores the round's records before labels are used.
void Vertical::predict() {
  if (!root_.aggregates()) return;
  const auto score_all = [&] {
    apply(
        [&](Score& learned, Score& tally, double& played, std::vector<Prediction>& predictions, const Vector& targets) {
          learned = score(View(targets).first(records_ * loss_.targets()));
          tally += learned;
          played += learned.loss / static_cast<double>(plan_.batch);
          if (!plan_.keeps_predictions) return;
          const View outputs = plan_.central ? joint_->outputs() : head_loss_.outputs();
          for (std::size_t i = 0; i < records_; ++i) {
            if (is_left_out(View(targets).subspan(i, 1))) continue;
            const double margin = loss_.margin(outputs.subspan(i * loss_.outputs(), loss_.outputs())).value_or(0);
            predictions.push_back({margin, targets[i] > 0});
          }
        },
        learned_, played_.tallies[0], played_.objectives[0], predictions_, stream_.targets());
  };
  timed(&TimeShares::mixing, score_all);
}

/// Score of the records whose embeddings or columns were received last.
Score Vertical::score(View targets) {
  if (!plan_.central) return head_loss_.play(head_.parameters().value(), embeddings_, targets);
  return joint_->play(std::vector<View>(columns_.begin(), columns_.end()), targets);
}

/// Local step e of every block on this rank: θ_k ← θ_k − η_t ∇_k F(Φ̂_{−k}, h_k(θ_k)).
void Vertical::step(Round e) {
  if (plan_.central) {
    if (root_.aggregates()) timed(&TimeShares::learning, [&] { step_jointly(e); });
    stepped_ = true;
    return;
  }
  timed(&TimeShares::learning, [&] {
    if (root_.aggregates()) step_head(e);
    for (Party& party : parties_) {
      if (!party.price) continue;
      step_party(party, e);
      root_.still_here();
    }
  });
}

void Vertical::step_head(Round e) {
  stepped_ = plan_.labels == LabelHolders::all || head_price_.has_value();
  if (!stepped_) return;
  const bool secret = plan_.labels == LabelHolders::head;
  apply(
      [&](Vector& gradient, const Vector& targets) {
        head_loss_.play(head_.parameters().value(), embeddings_, View(targets).first(records_ * loss_.targets()));
        sum_gradients(head_.network(), head_.parameters().value(), embeddings_, head_loss_.output_derivatives(),
                      secret ? mechanism_.clip(parts_.head) : Clip(), gradient);
      },
      gradient_, stream_.targets());
  if (secret) {
    mechanism_.release(parts_.head, address(ReleasePath::vertical_head_gradient, 0, e + 1), *head_price_, keys_[0],
                       gradient_, direction_);
  } else {
    KnownLabels::publish(gradient_, static_cast<double>(plan_.batch), direction_);
  }
  head_.step(plan_.power_step_at(done_), direction_);
}

std::size_t Vertical::sum_gradients(NetworkBlock& network, View parameters, View inputs, View d_outputs,
                                    const Clip& clip, Vector& gradient) const {
  if (plan_.person_rows == 1) return network.gradient(d_outputs, clip, gradient);
  return add_persons(network, {parameters, inputs, d_outputs}, {stream_.records_of_persons(), plan_.person_rows}, clip,
                     gradient);
}

void Vertical::step_party(Party& party, Round e) {
  NetworkBlock& network = party.block->network();
  const Clip clip = mechanism_.clip(parts_.gradients[party.k()]);
  if (plan_.labels == LabelHolders::head) {
    // Zeros came from a head whose budget has ended; noise is never all zeros.
    const bool noisy = mechanism_.price_kind() != PriceKind::none;
    if (noisy && std::all_of(party.derivatives.begin(), party.derivatives.end(), [](double d) { return d == 0; }))
      return;
    apply(
        [&](Vector& gradient, std::int64_t& out_of_range, const Vector& inputs) {
          out_of_range += static_cast<std::int64_t>(
              sum_gradients(network, party.block->parameters().value(), inputs, party.derivatives, clip, gradient));
        },
        gradient_, party.out_of_range, stream_.inputs(party.hosted));
  } else {
    if (e > 0) embed(party, stream_.inputs(party.hosted), 0, records_);
    apply(
        [&](Vector& gradient, Vector& frozen, Vector& d_embeddings, Vector& d_own, std::int64_t& out_of_range,
            const Vector& embedding, const Vector& inputs, const Vector& targets) {
          frozen = embeddings_;
          put_part(embedding, parties(), party.k(), width_, frozen);
          head_loss_.play(theta_hat_.value(), frozen, View(targets).first(records_ * loss_.targets()));
          head_loss_.embedding_derivatives(d_embeddings);
          take_part(d_embeddings, parties(), party.k(), width_, d_own);
          out_of_range += static_cast<std::int64_t>(
              sum_gradients(network, party.block->parameters().value(), inputs, d_own, clip, gradient));
        },
        gradient_, frozen_, d_embeddings_, d_own_, party.out_of_range, std::as_const(party.embedding),
        stream_.inputs(party.hosted), stream_.targets());
  }
  mechanism_.release(parts_.gradients[party.k()], address(ReleasePath::vertical_party_gradient, party.client, e + 1),
                     *party.price, keys_[party.local], gradient_, direction_);
  party.block->step(plan_.power_step_at(done_), direction_);
}

/// The baseline `central`: a step of all blocks at once, on rank 0's copy of all columns.
void Vertical::step_jointly(Round e) {
  apply(
      [&](std::vector<Vector>& gradients, const Vector& targets) {
        if (e > 0) static_cast<void>(score(View(targets).first(records_ * loss_.targets())));
        joint_->gradients(gradients);
      },
      joint_gradients_, stream_.targets());
  for (std::size_t b = 0; b < joint_->blocks().size(); ++b) {
    gradient_ = joint_gradients_.map([b](const std::vector<Vector>& gradients) { return gradients[b]; });
    const std::size_t part = b == 0 ? parts_.head : parts_.gradients[b - 1];
    mechanism_.release(part, address(ReleasePath::vertical_joint_gradient, 0, e), *head_price_, keys_[0], gradient_,
                       direction_);
    joint_->blocks()[b].step(plan_.power_step_at(done_), direction_);
  }
}

/// Scores the round's test records, which are not learned from.
void Vertical::test() {
  tested_ = Secret<Score>();
  if (stream_.testing() == 0) return;
  collect(evaluation_, records_, stream_.testing());
  if (!root_.aggregates()) return;
  apply(
      [&](Score& tested, const Vector& targets) { tested = score(View(targets).subspan(records_ * loss_.targets())); },
      tested_, stream_.targets());
}

void Vertical::completed(const std::vector<Observer*>& observers) {
  if (root_.aggregates() && stepped_) played_.rounds[0].add(done_);
  total_.up += bits_.up;
  total_.down += bits_.down;
  ++done_;
  watch_.lap(shares_.exchange);
  show(observers);
  watch_.lap(shares_.observing);
}

void Vertical::show(const std::vector<Observer*>& observers) {
  for (Observer* observer : observers) observer->after(*this);
}

Released<Columns> Vertical::some_models(std::size_t, std::size_t count) const {
  return post_process([count](const Vector& theta) { return Columns(theta, count); }, head());
}

std::vector<std::pair<Client, Released<Vector>>> Vertical::blocks() const {
  std::vector<std::pair<Client, Released<Vector>>> result;
  if (joint_) {
    for (std::size_t b = 0; b < joint_->blocks().size(); ++b) {
      result.emplace_back(static_cast<Client>(b), joint_->blocks()[b].parameters());
    }
    return result;
  }
  if (root_.aggregates()) result.emplace_back(0, head_.parameters());
  for (const Party& party : parties_) {
    if (party.block) result.emplace_back(party.client, party.block->parameters());
  }
  return result;
}

std::vector<std::pair<Client, Secret<std::int64_t>>> Vertical::out_of_range() const {
  std::vector<std::pair<Client, Secret<std::int64_t>>> counts;
  for (const Party& party : parties_) counts.emplace_back(party.client, party.out_of_range);
  return counts;
}

}  // namespace starling
