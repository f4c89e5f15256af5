// Messages of online vertical federated learning: contributions up, and Φ̂ or derivatives down.
#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "data/vertical/vertical.hpp"
#include "loss/target_loss.hpp"
#include "net/root/root.hpp"
#include "privacy/clip_rows.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "protocol/vertical/vertical.hpp"
#include "protocol/vertical/vertical_predictions.hpp"

namespace starling {

namespace {

constexpr std::size_t fewest_numbers = 32;  ///< of a message that is looked at

double to_float(double x) {
  return static_cast<float>(x);
}

/// Whether 15 of 16 numbers are equal, but not all.
bool has_nearly_one_level(Vector numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  const auto equal = static_cast<std::size_t>(std::ranges::count(numbers, *middle));
  return equal < numbers.size() && 16 * equal >= 15 * numbers.size();
}

}  // namespace

const Quantiser& Vertical::up_quantiser() const {
  return plan_.central ? *wire_.exact : wire_.embeddings(std::min(done_, plan_.rounds - 1));
}

std::vector<std::size_t> Vertical::sent_widths() const {
  return plan_.central ? widths_ : std::vector<std::size_t>(parties(), width_);
}

std::vector<std::size_t> Vertical::up_lengths(std::size_t count) const {
  std::vector<std::size_t> lengths{0};
  for (const std::size_t width : sent_widths()) lengths.push_back(count * width);
  return lengths;
}

// A person's rows have norm C at most together: R rows of C/√R. The factor takes up the roundings of both.
Clip Vertical::clip_of_row(std::size_t part) const {
  Clip clip = mechanism_.clip(part);
  if (plan_.person_rows > 1) clip.bound *= (1 - 0x1p-40) / std::sqrt(static_cast<double>(plan_.person_rows));
  return clip;
}

/// h_k(θ_k; x_k), clipped under a mechanism.
void Vertical::embed(Party& party, const Secret<Vector>& columns, std::size_t first, std::size_t count) {
  const std::size_t width = widths_[party.k()];
  apply(
      [&](Vector& embedding, std::int64_t& out_of_range, const Vector& inputs) {
        NetworkBlock& network = party.block->network();
        const View outputs =
            network.forward(party.block->parameters().value(), View(inputs).subspan(first * width, count * width));
        embedding.assign(outputs.begin(), outputs.end());
        std::size_t left_out = clip_rows(embedding, width_, clip_of_row(parts_.sent[party.k()]));
        for (const char out : network.out_of_range()) left_out += out != 0 ? 1 : 0;
        out_of_range += static_cast<std::int64_t>(left_out);
      },
      party.embedding, party.out_of_range, columns);
}

void Vertical::make_rows(Party& party, const Secret<Vector>& inputs, std::size_t first, std::size_t count) {
  if (!plan_.central) {
    embed(party, inputs, first, count);
    rows_ = party.embedding;
    return;
  }
  const std::size_t width = widths_[party.k()];
  rows_ = inputs.map([&](const Vector& columns) {
    const View own = View(columns).subspan(first * width, count * width);
    Vector numbers(own.begin(), own.end());
    // Networks of floats see floats, and m (x/m) of a float is x again.
    if (precision_ == Precision::single) std::ranges::transform(numbers, numbers.begin(), to_float);
    return numbers;
  });
  apply(
      [&](Vector& rows, std::int64_t& out_of_range) {
        out_of_range += static_cast<std::int64_t>(clip_rows(rows, width, mechanism_.clip(parts_.sent[party.k()])));
      },
      rows_, party.out_of_range);
}

const Released<Vector>& Vertical::contribution(Party& party, std::size_t first, std::size_t count) {
  const std::size_t width = plan_.central ? widths_[party.k()] : width_;
  sent_.update([&](Vector& sent) { sent.assign(party.price ? 0 : count * width, 0.0); });
  if (!party.price) return sent_;
  make_rows(party, stream_.inputs(party.hosted), first, count);
  ReleaseAddress place = address(ReleasePath::vertical_embedding, party.client, first == 0 ? 0 : 1);
  for (std::size_t from = 0; from < count; from += plan_.rows(), ++place.block) {
    release_rows(parts_.sent[party.k()], width, from, place, *party.price, keys_[party.local]);
  }
  sent_.update([&](Vector& sent) { sent.resize(count * width); });
  return sent_;
}

void Vertical::release_rows(std::size_t part, std::size_t width, std::size_t first, const ReleaseAddress& address,
                            double price, const NoiseKey& key) {
  block_ = rows_.map([&](const Vector& rows) {
    const View own = View(rows).subspan(first * width);
    Vector block(plan_.rows() * width, 0.0);
    std::copy_n(own.begin(), std::min(own.size(), block.size()), block.begin());
    return block;
  });
  mechanism_.release(part, address, price, key, block_, released_);
  sent_.update(
      [&](Vector& sent, const Vector& mean) {
        const auto m = static_cast<double>(plan_.batch);
        for (const double x : mean) sent.push_back(m * x);
      },
      released_);
}

void Vertical::collect(Root& root, std::size_t first, std::size_t count) {
  const std::vector<std::size_t> lengths = up_lengths(count);
  const Quantiser& quantiser = up_quantiser();
  root.collect(
      lengths,
      [&](std::size_t local) -> const Released<Vector>& {
        Party& party = parties_[local - (parties_.front().local)];
        return timed(&TimeShares::learning,
                     [&]() -> const Released<Vector>& { return contribution(party, first, count); });
      },
      quantiser, messages_);
  if (!root.aggregates()) return;
  open_messages(count, messages_.value());
  if (&root == &evaluation_) return;
  if (quantiser.chooses_bits()) look_at_levels();
  bits_ = {};
  for (std::size_t u = 1; u < lengths.size(); ++u) {
    if (!plan_.is_absent(static_cast<Client>(u), done_)) bits_.up += static_cast<double>(quantiser.bits(lengths[u]));
  }
}

/// Counts the messages that say little, and notes those that are far larger than all before them.
void Vertical::look_at_levels() {
  largest_sent_.resize(columns_.size());
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const Vector& message = columns_[k];
    if (message.size() < fewest_numbers) continue;
    ++messages_looked_at_;
    of_one_level_ += has_nearly_one_level(message) ? 1 : 0;
    const double size = norm2(message) / std::sqrt(static_cast<double>(message.size()));
    if (largest_sent_[k] > 0) largest_jump_ = std::max(largest_jump_, size / largest_sent_[k]);
    largest_sent_[k] = std::max(largest_sent_[k], size);
  }
}

/// Decodes the contributions of `count` records.
void Vertical::open_messages(std::size_t count, std::span<const std::byte> bytes) {
  decode_rows(bytes, up_quantiser(), sent_widths(), count, columns_);
  join_embeddings();
}

/// Sets the matrix of embeddings to what each party has sent, but under `central`.
void Vertical::join_embeddings() {
  if (plan_.central) return;
  embeddings_.resize(parties() * columns_[0].size());
  for (std::size_t k = 0; k < parties(); ++k) put_part(columns_[k], parties(), k, width_, embeddings_);
}

/// An empty broadcast in rounds without one. Without it a signal could find ranks many rounds apart.
void Vertical::keep_in_step() {
  evaluation_.broadcast(nothing_);
}

void Vertical::send_back() {
  if (plan_.central) return keep_in_step();
  if (plan_.labels == LabelHolders::head) {
    send_derivatives();
  } else {
    send_representation();
  }
}

/// Φ̂: the head, then the messages as they came.
void Vertical::send_representation() {
  const std::vector<std::size_t> lengths = up_lengths(records_);
  const std::size_t head_bytes = wire_.head->bytes(head_.network().dimension());
  std::size_t bytes = head_bytes;
  for (const std::size_t length : lengths) bytes += up_quantiser().bytes(length);
  representation_.update(
      [&](std::vector<std::byte>& all, const Vector& theta, const std::vector<std::byte>& messages) {
        all.resize(bytes);
        if (!root_.aggregates()) return;
        wire_.head->encode(theta, std::span(all).first(head_bytes));
        std::copy(messages.begin(), messages.end(), all.begin() + static_cast<std::ptrdiff_t>(head_bytes));
      },
      head_.parameters(), messages_);
  root_.broadcast(representation_);
  const std::span<const std::byte> all = representation_.value();
  theta_hat_.update([&](Vector& theta) { wire_.head->decode(all.first(head_bytes), theta); });
  open_messages(records_, all.subspan(head_bytes));
  if (root_.aggregates()) bits_.down = bits_.up + static_cast<double>(wire_.head->bits(theta_hat_.value().size()));
}

/// ∂ℓ_i/∂h_k to party k.
void Vertical::send_derivatives() {
  const std::vector<std::size_t> lengths = up_lengths(records_);
  const std::size_t width = parties() * width_;
  sent_.update([&](Vector& sent) { sent.assign(head_price_ ? 0 : records_ * width, 0.0); });
  if (head_price_) {
    rows_.update([&](Vector& rows) {
      head_loss_.embedding_derivatives(rows);  // of the prediction just made
      clip_rows(rows, width, clip_of_row(parts_.derivatives));
    });
    release_rows(parts_.derivatives, width, 0, address(ReleasePath::vertical_derivatives, 0, 0), *head_price_,
                 keys_[0]);
    sent_.update([&](Vector& sent) { sent.resize(records_ * width); });
  }
  root_.distribute(
      lengths,
      [&](Client u) -> const Released<Vector>& {
        released_.update(
            [&](Vector& part, const Vector& all) {
              take_part(all, parties(), static_cast<std::size_t>(u - 1), width_, part);
            },
            sent_);
        return released_;
      },
      *wire_.exact,
      [&](std::size_t local, const Released<Vector>& numbers) {
        parties_[local - parties_.front().local].derivatives = numbers.value();
      });
  for (const std::size_t length : lengths) bits_.down += static_cast<double>(wire_.exact->bits(length));
}

}  // namespace starling
