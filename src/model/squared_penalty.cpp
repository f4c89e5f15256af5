#include "squared_penalty.hpp"

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

/// Calls `action` with the begin and the length of each stretch of penalised coordinates among d.
template <class Action>
void each_stretch(const SquaredPenalty& penalty, std::size_t d, Action&& action) {
  if (penalty.lambda == 0) return;
  if (penalty.run == 0) return action(std::size_t{0}, d);
  for (std::size_t begin = 0; begin < d; begin += penalty.run) action(begin, penalty.run - 1);
}

}  // namespace

double SquaredPenalty::value(View x, double a) const {
  double squares = 0;
  each_stretch(*this, x.size(), [&](std::size_t begin, std::size_t length) {
    squares += dot(x.subspan(begin, length), x.subspan(begin, length));
  });
  return a * 0.5 * lambda * squares;
}

void SquaredPenalty::add_gradient(double a, View x, MutableView gradient) const {
  each_stretch(*this, x.size(), [&](std::size_t begin, std::size_t length) {
    axpy(a * lambda, x.subspan(begin, length), gradient.subspan(begin, length));
  });
}

void SquaredPenalty::shrink(double a, MutableView x) const {
  each_stretch(*this, x.size(),
               [&](std::size_t begin, std::size_t length) { scale(1 - a * lambda, x.subspan(begin, length)); });
}

}  // namespace starling
