#include "protocol/renewable/open_renewable.hpp"

#include <utility>

#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/curvature/safeguarded_newton.hpp"

namespace starling {

namespace {

/// Entries from, …, from + count − 1.
Released<Vector> part_of(const Released<Vector>& all, std::size_t from, std::size_t count) {
  return post_process(
      [=](const Vector& numbers) {
        const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(from);
        return Vector(begin, begin + static_cast<std::ptrdiff_t>(count));
      },
      all);
}

constexpr double order_to_end = 0;
constexpr double order_to_go_on = 1;
constexpr double order_to_give_up = 2;  ///< since there is no minimum

/// Rank 0's order to all: (what to do, the point that is asked about next, the best point so far).
void write_order(double what, const SafeguardedNewton& search, Released<Vector>& order) {
  order.update([&](Vector& numbers) {
    numbers.assign(1, what);
    numbers.insert(numbers.end(), search.point().begin(), search.point().end());
    numbers.insert(numbers.end(), search.best().begin(), search.best().end());
  });
}

}  // namespace

OpenRenewable::OpenRenewable(Root& root, RenewableClients& clients, CurvedModel& model,
                             const RenewableSettings& settings, const Released<Vector>& start,
                             const OpenChannel& channel)
    : Renewable(root, clients, model, settings, start), channel_(channel) {}

Released<Vector> OpenRenewable::publish(const std::function<const Secret<Vector>&(std::size_t k)>& message) {
  Released<Vector> published = declare_public(Vector());
  return root_.sum(
      places().size(),
      [&](std::size_t k) -> const Released<Vector>& {
        const ReleaseAddress address{ReleasePath::renewable_message, root_.first() + static_cast<Client>(k), done_, 0};
        timed(&TimeShares::learning, [&] {
          channel_.mechanism.release(address, channel_.mechanism.settings().price.most, clients_.key(k), message(k),
                                     published);
        });
        return published;
      },
      channel_.codec);
}

Expansion OpenRenewable::expansion(View theta, View total, const std::optional<Earlier>& earlier) const {
  const MessageLayout at = places();
  const double penalty = total[at.records()] * l2();
  Expansion result{total[at.loss()] + penalty_value(theta, penalty), penalty_gradient(theta, penalty),
                   empty_curvature()};
  axpy(1, total.first(at.dimension), result.gradient);
  result.curvature.add(total.subspan(at.curvature(), at.triangles));
  add_penalty(result.curvature, penalty);
  if (earlier) {
    Vector away(theta.begin(), theta.end());
    axpy(-1, earlier->centre, away);
    const Vector pull = earlier->j.times(away);
    result.value += dot(away, pull) / 2;
    axpy(1, pull, result.gradient);
    result.curvature.add(earlier->j, 1);
  }
  return result;
}

/// Without a penalty there is no minimum if all classes, or some records, can be separated: longer coefficients always
/// separate them better. All records are separated if the sum of losses is below the loss of one record at score 0.
bool OpenRenewable::is_separated(const SafeguardedNewton& search) const {
  if (settings_.l2 > 0 || !model_.classifies()) return false;
  return *objective_ < model_.loss_at_zero() || (search.converged() && !search.is_minimum());
}

/// Under a penalty on slopes alone the intercept of a class without records, or with all of them, grows without end.
bool OpenRenewable::runs_away(const SafeguardedNewton& search) const {
  return search.converged() && settings_.penalty == Penalty::slopes && model_.classifies() && search.runs_away();
}

OpenRenewable::Outcome OpenRenewable::minimise(const Question& ask, Round most, Penalty penalty,
                                               const std::string& where, const std::function<bool()>& after,
                                               const std::optional<Earlier>& earlier) {
  const std::size_t d = model_.dimension();
  const Penalty kept = std::exchange(settings_.penalty, penalty);
  std::optional<SafeguardedNewton> search;  // on rank 0, which leads
  Released<Vector> order = declare_public(Vector(1 + 2 * d));
  Outcome outcome = Outcome::exhausted;
  for (Round asked = 0; asked < most; ++asked) {
    const bool first = asked == 0;
    const Released<Vector> point = first ? theta_ : part_of(order, 1, d);
    MessageParts parts;
    parts.with_slopes = settings_.with_slopes;
    if (first) parts.curvature = CurvedModel::Weight::majoriser;
    const Released<Vector> total = ask(point.value(), parts);
    if (root_.aggregates()) {
      Expansion here = expansion(point.value(), total.value(), earlier);
      if (first) search.emplace(point.value(), here.curvature, where);
      timed(&TimeShares::mixing, [&] { search->take(std::move(here)); });
      objective_ = search->value();
      const bool in_vain = !earlier && (is_separated(*search) || runs_away(*search));
      const double what = in_vain ? order_to_give_up : search->converged() ? order_to_end : order_to_go_on;
      write_order(what, *search, order);
    }
    root_.broadcast(order);
    theta_ = part_of(order, 1 + d, d);
    const bool more = after();
    const double what = order.value()[0];
    if (what == order_to_go_on && more) continue;
    outcome = what == order_to_end       ? Outcome::converged
              : what == order_to_give_up ? Outcome::without_minimum
                                         : Outcome::stopped;
    break;
  }
  settings_.penalty = kept;
  return outcome;
}

}  // namespace starling
