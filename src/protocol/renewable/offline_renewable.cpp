#include "protocol/renewable/offline_renewable.hpp"

#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"

namespace starling {

OfflineRenewable::OfflineRenewable(Root& root, RenewableClients& clients, CurvedModel& model,
                                   const RenewableSettings& settings, const Released<Vector>& start,
                                   const OpenChannel& channel, Steps steps)
    : OpenRenewable(root, clients, model, settings, start, channel), steps_(steps) {}

void OfflineRenewable::run(const std::vector<Observer*>& observers) {
  begin(observers);
  if (!goes_on()) return;
  if (steps_ == Steps::one) {
    take_one_step();
    completed();
    return;
  }
  const auto question = [this](View theta, const MessageParts& parts) { return ask(theta, parts); };
  const auto after = [&] {
    completed();
    return goes_on();
  };
  outcome_ = minimise(question, settings_.rounds, settings_.penalty, "all batches", after);
  check<DataError>(
      outcome_ != Outcome::without_minimum || settings_.l2 > 0,
      "all batches: there is no minimum without a penalty: the classes, or some of their records, can be separated, or "
      "there is one class only. Add a penalty with --l2.");
}

Released<Vector> OfflineRenewable::ask(View theta, const MessageParts& parts) {
  Released<Vector> sums = publish([&](std::size_t k) -> const Secret<Vector>& {
    return clients_.answer_pass(k, pass_, theta, parts, [this] { root_.still_here(); });
  });
  ++pass_;
  return sums;
}

/// One step of (16) from the start. For `dwd` at θ = 0 the result is the centroid classifier Σ y x̄ / (nλ).
void OfflineRenewable::take_one_step() {
  const MessageLayout at = places();
  const Released<Vector> sums = ask(theta_.value(), {});
  if (root_.aggregates()) {
    const View total = sums.value();
    const double n = total[at.records()];
    BlockCurvature curvature = empty_curvature();
    curvature.add(total.subspan(at.curvature(), at.triangles));
    curvature.add_identity(n * l2());
    Vector gradient = penalty_gradient(theta_.value(), n * l2());
    axpy(1, total.first(at.dimension), gradient);
    const Vector step = curvature.solve(gradient, "the one step");
    theta_.update([&](Vector& theta) { axpy(-1, step, theta); });
  }
  root_.broadcast(theta_);
}

}  // namespace starling
