#include "run_canaries.hpp"

#include <vector>

#include "net/agreement.hpp"
#include "privacy/audit/one_run.hpp"
#include "protocol/canary.hpp"

namespace starling {

namespace {
constexpr std::size_t coordinate = 0;
}

RunCanaries::RunCanaries(Model& model, Mechanism& mechanism)
    : log_(std::make_unique<CanaryLog>()),
      model_(std::make_unique<CanaryModel>(model, coordinate, NoiseKey::random(), *log_)),
      mechanism_(std::make_unique<CanaryMechanism>(mechanism, coordinate, *log_)) {}

RunCanaries::~RunCanaries() = default;

Model& RunCanaries::model() {
  return *model_;
}

Mechanism& RunCanaries::mechanism() {
  return *mechanism_;
}

std::optional<OneRunResult> RunCanaries::finish(Agreement& agreement, const Charge& claim, double delta) const {
  // The signs come from a coin, not from records; what was seen has been released.
  const CanaryLog own = estimated_canaries(*log_, mechanism_->settings().correlation);
  const Vector signs(own.signs.begin(), own.signs.end());
  const std::vector<Vector> all_signs = agreement.gather(declare_public(signs));
  const std::vector<Vector> all_seen = agreement.gather(declare_public(own.seen));
  std::optional<OneRunResult> result;
  agreement.together([&] {
    if (all_signs.empty()) return;  // not rank 0
    CanaryLog log;
    for (std::size_t r = 0; r < all_signs.size(); ++r) {
      for (const double sign : all_signs[r]) log.signs.push_back(sign > 0 ? 1 : -1);
      log.seen.insert(log.seen.end(), all_seen[r].begin(), all_seen[r].end());
    }
    if (static_cast<Round>(log.signs.size()) >= least_canaries) result = one_run_audit(log, claim, delta);
  });
  return result;
}

}  // namespace starling
