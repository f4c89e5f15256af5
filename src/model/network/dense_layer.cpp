#include <limits>

#include <fmt/format.h>

#include "layer_arithmetic.hpp"
#include "layers.hpp"
#include "product.hpp"

namespace starling {

namespace {

template <class T>
class Dense final : public Layer<T> {
 public:
  Dense(std::size_t inputs, std::size_t outputs)
      : Layer<T>({{1, 1, inputs},
                  {1, 1, outputs},
                  (inputs + 1) * outputs,
                  inputs,
                  fmt::format("dense {}-{}", inputs, outputs)}),
        in_(inputs),
        out_(outputs) {}

  void forward(const T* parameters, std::size_t records, const T* x, T* y) override {
    fill_rows(records, out_, parameters + in_ * out_, y);
    product_(records, out_, in_, rows_of(x, in_), rows_of(parameters, out_), y, Into::sum);
  }

  void backward(const T* parameters, std::size_t records, const T* /*x*/, const T* /*y*/, const T* d_y,
                T* d_x) override {
    product_(records, in_, out_, rows_of(d_y, out_), transposed(rows_of(parameters, out_)), d_x, Into::new_matrix);
  }

  void gradient(std::size_t records, const T* x, const T* d_y, T* sum) override {
    product_(in_, out_, records, transposed(rows_of(x, in_)), rows_of(d_y, out_), sum, Into::new_matrix);
    sum_rows(records, out_, d_y, sum + in_ * out_);
  }

  // A record's gradient is the outer product of (x, 1) and d_y.
  void record_norms(std::size_t records, const T* x, const T* d_y, Norm norm, std::span<double> norms) override {
    for (std::size_t i = 0; i < records; ++i) {
      const T* const row = x + i * in_;
      const double of_row = norm == Norm::l1 ? norm_of(row, in_, Norm::l1) + 1 : std::sqrt(squares_of(row, in_) + 1);
      const bool exact = of_row <= largest_norm<T>;
      norms[i] = exact ? norm_of(d_y + i * out_, out_, norm) * of_row : std::numeric_limits<double>::infinity();
    }
  }

  void weighted_gradient(std::span<const double> factors, const T* x, T* d_y, T* sum) override {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (factors[i] == 1) continue;
      T* const row = d_y + i * out_;
      for (std::size_t j = 0; j < out_; ++j) row[j] = static_cast<T>(factors[i] * static_cast<double>(row[j]));
    }
    gradient(factors.size(), x, d_y, sum);
  }

 private:
  std::size_t in_;
  std::size_t out_;
  Product<T> product_;
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_dense(std::size_t inputs, std::size_t outputs) {
  return std::make_unique<Dense<T>>(inputs, outputs);
}

template std::unique_ptr<Layer<float>> make_dense(std::size_t, std::size_t);
template std::unique_ptr<Layer<double>> make_dense(std::size_t, std::size_t);

}  // namespace starling
