/// Mixing in one loop over all clients, to compare the mixers with.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "graph/schedule.hpp"
#include "protocol/decentralized/mixer.hpp"
#include "protocol/decentralized/rounded_messages.hpp"

namespace starling::testing_support {

/// The formulas of docs/methods/decentralized.md, "One round", client by client, with all vectors in one place.
class PlainMixing {
 public:
  /// Keeps references. `x` are the states of all clients.
  PlainMixing(const Schedule& schedule, const MixingSettings& settings, std::vector<Vector> x)
      : schedule_(schedule), settings_(settings), x_(std::move(x)), w_(x_.size(), 1.0) {}

  [[nodiscard]] std::vector<Vector>& states() { return x_; }
  [[nodiscard]] const Vector& masses() const { return w_; }

  /// All exchanges of round t.
  void mix(Round t) {
    for (Round g = 0; g < settings_.gossip_steps; ++g) exchange(t * settings_.gossip_steps + g);
  }

 private:
  /// A number of twice a double's digits: the rounded value and the rest.
  struct Double2 {
    double value = 0;
    double rest = 0;
  };
  /// Sum of the shares sent over an edge, and the sum that the receiver has seen last.
  struct EdgeSums {
    std::vector<Double2> sent;
    std::vector<Double2> seen;
  };

  [[nodiscard]] bool push_sum() const { return settings_.mixing == Mixing::push_sum; }

  /// a + b, whose rest is exact (Knuth).
  static Double2 two_sum(double a, double b) {
    const double sum = a + b;
    const double a_part = sum - b;
    const double b_part = sum - a_part;
    return {sum, (a - a_part) + (b - b_part)};
  }

  void exchange(Round step) {
    const std::size_t d = x_.front().size();
    std::map<std::pair<Client, Client>, Vector> parts;  // (s, w) by receiver and sender, each client's own among them
    std::vector<bool> alone;
    for (std::size_t u = 0; u < x_.size(); ++u) {
      const auto from = static_cast<Client>(u);
      const Links links = schedule_.links(from, step);
      alone.push_back(links.in.empty() && links.out.empty() && links.lost.empty());
      const double least = settings_.rounds_messages() ? least_mass_rounded : negligible_mass;
      const double share = w_[u] < least ? 0 : links.share * (1 - lazy(links));
      Vector whole(x_[u]);
      for (double& entry : whole) entry *= w_[u];
      whole.push_back(w_[u]);
      Vector left = whole;
      Vector sent = whole;
      for (double& entry : sent) entry *= share;
      if (settings_.rounds_messages() && !links.out.empty()) sent = rounded(sent);
      for (const Arc& arc : links.out) {
        parts[{arc.peer, from}] = send(from, arc, share, whole, sent, left);
        EdgeSums& edge = sums_[{from, arc.peer}];
        edge.seen = edge.sent;
      }
      for (const Arc& arc : links.lost) send(from, arc, share, whole, sent, left);
      const double own = push_sum() ? left[d] : settings_.lazy + (1 - settings_.lazy) * links.own;
      for (std::size_t i = 0; i < d && (settings_.running_sums || !push_sum()); ++i) left[i] = own * x_[u][i];
      parts[{from, from}] = left;
    }
    std::vector<Vector> totals(x_.size(), Vector(d + 1, 0.0));
    for (const auto& [ends, part] : parts) {  // in sender order
      Vector& total = totals[static_cast<std::size_t>(ends.first)];
      for (std::size_t i = 0; i <= d; ++i) total[i] += part[i];
    }
    for (std::size_t u = 0; u < x_.size(); ++u) {
      if (alone[u]) continue;
      if (push_sum()) w_[u] = totals[u][d];
      if (w_[u] < negligible_mass) continue;
      for (std::size_t i = 0; i < d; ++i) x_[u][i] = totals[u][i] / w_[u];
    }
  }

  /// A client without a share of its own keeps a quarter where messages are rounded.
  [[nodiscard]] double lazy(const Links& links) const {
    double given = 0;
    for (const Arc& arc : links.out) given += links.share * arc.weight;
    const bool keeps_more = settings_.rounds_messages() && 1 - given < least_kept_share;
    return keeps_more ? std::max(settings_.lazy, share_kept_instead) : settings_.lazy;
  }

  [[nodiscard]] Vector rounded(Vector pair) const {
    const auto codec = make_model_codec(settings_.precision);
    std::vector<std::byte> message(codec->bytes(pair.size()));
    codec->encode(pair, message);
    codec->decode(message, pair);
    return pair;
  }

  /// The message over this edge. Its parts are subtracted from `left`, what the sender keeps.
  Vector send(Client from, const Arc& arc, double share, const Vector& whole, const Vector& sent_to_all, Vector& left) {
    Vector part(whole.size());
    if (!settings_.running_sums) {
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = arc.weight * sent_to_all[i];
      for (std::size_t i = 0; i < part.size(); ++i) left[i] -= part[i];
      return part;
    }
    EdgeSums& edge = sums_[{from, arc.peer}];
    edge.sent.resize(part.size());
    edge.seen.resize(part.size());
    const double before = left.back();
    left.back() -= std::min(share * arc.weight * whole.back(), before);
    const double mass = before - left.back();
    const Vector& x = x_[static_cast<std::size_t>(from)];
    for (std::size_t i = 0; i < part.size(); ++i) {
      Double2& sent = edge.sent[i];
      const Double2 sum = two_sum(sent.value, i < x.size() ? mass * x[i] : mass);
      sent = two_sum(sum.value, sent.rest + sum.rest);
      const Double2 news = two_sum(sent.value, -edge.seen[i].value);
      part[i] = news.value + (news.rest + (sent.rest - edge.seen[i].rest));
    }
    return part;
  }

  const Schedule& schedule_;
  const MixingSettings& settings_;
  std::vector<Vector> x_;
  Vector w_;
  std::map<std::pair<Client, Client>, EdgeSums> sums_;
};

}  // namespace starling::testing_support
