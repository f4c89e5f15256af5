#include "protocol/decentralized/running_sums.hpp"

#include <algorithm>

namespace starling {

namespace {

/// a + b as a rounded sum and the exact rounding error.
struct ExactSum {
  double rounded;
  double rest;
  ExactSum(double a, double b) : rounded(a + b), rest(0) {
    const double part_of_b = rounded - a;
    rest = (a - (rounded - part_of_b)) + (b - part_of_b);
  }
};

/// hi + lo ← hi + lo + x
void add(double& hi, double& lo, double x) {
  const ExactSum sum(hi, x);
  const double rest = lo + sum.rest;
  hi = sum.rounded + rest;
  lo = rest - (hi - sum.rounded);  // exact, since |rest| <= |sum.rounded| or that is zero
}

/// (hi + lo) − (hi_before + lo_before)
double difference(double hi, double lo, double hi_before, double lo_before) {
  const ExactSum high(hi, -hi_before);
  return high.rounded + (high.rest + (lo - lo_before));
}

}  // namespace

View RunningSums::send(Client peer, View z, double c, bool arrives) {
  Sent& sent = sent_[peer];
  const std::size_t length = z.size() + 1;
  sent.sum.resize(message_length(length));
  double* const hi = sent.sum.data();
  double* const lo = hi + length;
  for (std::size_t i = 0; i < z.size(); ++i) add(hi[i], lo[i], c * z[i]);
  add(hi[z.size()], lo[z.size()], c);
  sent.in_flight = arrives ? 0 : sent.in_flight + c;
  sent.pending = !arrives;
  return sent.sum;
}

double RunningSums::new_mass(Client peer, View sum) const {
  const std::size_t length = sum.size() / 2;
  const auto accepted = accepted_.find(peer);
  if (accepted == accepted_.end()) return sum[length - 1] + sum.back();
  return difference(sum[length - 1], sum.back(), accepted->second[length - 1], accepted->second.back());
}

void RunningSums::accept(Client peer, View sum, MutableView news) {
  Vector& accepted = accepted_[peer];
  accepted.resize(sum.size());
  const std::size_t length = news.size();
  for (std::size_t i = 0; i < length; ++i) {
    news[i] = difference(sum[i], sum[length + i], accepted[i], accepted[length + i]);
  }
  std::copy(sum.begin(), sum.end(), accepted.begin());
}

double RunningSums::in_flight() const {
  double total = 0;
  for (const auto& [peer, sent] : sent_) total += sent.in_flight;
  return total;
}

}  // namespace starling
