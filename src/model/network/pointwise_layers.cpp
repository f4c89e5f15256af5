// Layers without parameters.
#include <algorithm>

#include "core/check.hpp"
#include "layers.hpp"

namespace starling {

namespace {

/// Rectifier. Comparisons keep NaN, where an infinity could hide it.
template <class T>
class Relu final : public Layer<T> {
 public:
  explicit Relu(const ImageShape& inputs) : Layer<T>({inputs, inputs, 0, 1, "relu"}) {}

  void forward(const T* /*parameters*/, std::size_t records, const T* x, T* y) override {
    const std::size_t n = records * this->inputs();
    for (std::size_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? T(0) : x[i];
  }
  void backward(const T* /*parameters*/, std::size_t records, const T* x, const T* /*y*/, const T* d_y,
                T* d_x) override {
    const std::size_t n = records * this->inputs();
    for (std::size_t i = 0; i < n; ++i) d_x[i] = x[i] > 0 ? d_y[i] : T(0);
  }
};

template <class T>
class MaxPool final : public Layer<T> {
 public:
  explicit MaxPool(const ImageShape& inputs)
      : Layer<T>({inputs, {inputs.height / 2, inputs.width / 2, inputs.channels}, 0, 1, "max-pool 2x2"}), in_(inputs) {}

  void forward(const T* /*parameters*/, std::size_t records, const T* x, T* y) override {
    over_squares(records, [&](std::size_t at, std::size_t to) {
      take_largest(in_.channels, x + at, in_.width * in_.channels, y + to);
    });
  }

  void backward(const T* /*parameters*/, std::size_t records, const T* x, const T* y, const T* d_y, T* d_x) override {
    if (in_.height % 2 != 0 || in_.width % 2 != 0) std::fill_n(d_x, records * in_.size(), T(0));
    over_squares(records, [&](std::size_t at, std::size_t to) {
      const std::size_t c = in_.channels;
      const std::size_t below = in_.width * c;
      route(c, x + at, below, y + to, d_y + to, d_x + at);
    });
  }

 private:
  /// `a` unless it is smaller; NaN where one of them is. Two selections without a branch, which compilers vectorise.
  static T larger(T a, T b) {
    const T top = a < b ? b : a;
    return b != b ? b : top;
  }

  /// The largest of the four points of one square, for `c` channels.
  static void take_largest(std::size_t c, const T* __restrict x, std::size_t below, T* __restrict y) {
    for (std::size_t j = 0; j < c; ++j) y[j] = larger(larger(x[j], x[c + j]), larger(x[below + j], x[below + c + j]));
  }

  /// The derivatives of one square to the first of its points that has the largest value, for `c` channels.
  static void route(std::size_t c, const T* __restrict x, std::size_t below, const T* __restrict y,
                    const T* __restrict d_y, T* __restrict d_x) {
    for (std::size_t j = 0; j < c; ++j) {
      const T top = y[j];
      const T after_none = d_y[j];
      const T after_first = x[j] == top ? T(0) : after_none;
      const T after_second = x[c + j] == top ? T(0) : after_first;
      const T after_third = x[below + j] == top ? T(0) : after_second;
      d_x[j] = x[j] == top ? after_none : T(0);
      d_x[c + j] = x[c + j] == top ? after_first : T(0);
      d_x[below + j] = x[below + j] == top ? after_second : T(0);
      d_x[below + c + j] = after_third;
    }
  }

  /// f(place of a square's first point in x, place of its point in y).
  template <class F>
  void over_squares(std::size_t records, F&& f) const {
    std::size_t to = 0;
    for (std::size_t i = 0; i < records; ++i) {
      for (std::size_t top = 0; top + 1 < in_.height; top += 2) {
        for (std::size_t left = 0; left + 1 < in_.width; left += 2) {
          f(i * in_.size() + (top * in_.width + left) * in_.channels, to);
          to += in_.channels;
        }
      }
    }
  }

  ImageShape in_;
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_relu(const ImageShape& inputs) {
  return std::make_unique<Relu<T>>(inputs);
}

template <class T>
std::unique_ptr<Layer<T>> make_max_pool(const ImageShape& inputs) {
  check(inputs.height >= 2 && inputs.width >= 2,
        "a max-pool of 2x2 on images of {}x{} points: nothing would be left. Use larger images or fewer layers.",
        inputs.height, inputs.width);
  return std::make_unique<MaxPool<T>>(inputs);
}

template std::unique_ptr<Layer<float>> make_relu(const ImageShape&);
template std::unique_ptr<Layer<double>> make_relu(const ImageShape&);
template std::unique_ptr<Layer<float>> make_max_pool(const ImageShape&);
template std::unique_ptr<Layer<double>> make_max_pool(const ImageShape&);

}  // namespace starling
