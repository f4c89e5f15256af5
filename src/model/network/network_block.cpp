#include "model/network/network_block.hpp"

#include <algorithm>

#include "model/clippable.hpp"
#include "model/network/gradient_sum.hpp"

namespace starling {

namespace {

template <class T>
void convert(View from, std::vector<T>& to) {
  to.resize(from.size());
  std::transform(from.begin(), from.end(), to.begin(), [](double x) { return static_cast<T>(x); });
}

template <class T>
class BlockOf final : public NetworkBlock {
 public:
  explicit BlockOf(const Architecture& architecture) : network_(architecture), sum_(network_) {}

  [[nodiscard]] std::size_t inputs() const override { return network_.inputs(); }
  [[nodiscard]] std::size_t outputs() const override { return network_.outputs(); }
  [[nodiscard]] std::size_t dimension() const override { return network_.dimension(); }
  [[nodiscard]] Vector initial(std::uint64_t seed, std::uint64_t block) const override {
    return network_.initial(seed, block);
  }

  View forward(View parameters, View inputs) override {
    convert(parameters, parameters_);
    convert(inputs, inputs_);
    records_ = inputs.size() / this->inputs();
    outputs_.resize(records_ * outputs());
    for (std::size_t first = 0; first < records_; first += chunk) {
      const std::span<const T> values = forward_chunk(first);
      std::copy(values.begin(), values.end(), outputs_.begin() + static_cast<std::ptrdiff_t>(first * outputs()));
    }
    out_.assign(records_, 0);
    for (std::size_t i = 0; i < records_; ++i) out_[i] = finite_or_zero(outputs_, i, outputs()) ? 0 : 1;
    return outputs_;
  }
  [[nodiscard]] std::span<const char> out_of_range() const override { return out_; }

  std::size_t gradient(View d_outputs, const Clip& clip, Vector& gradient) override {
    std::size_t count_out = 0;
    GradientSum<T>::check_clip(clip);
    gradient.assign(dimension(), 0.0);
    backward(d_outputs, Network<T>::Reach::parameters, [&](std::size_t first, std::size_t count) {
      const auto from = out_.begin() + static_cast<std::ptrdiff_t>(first);
      left_out_.assign(from, from + static_cast<std::ptrdiff_t>(count));
      sum_.add(clip, left_out_, gradient);
      for (const char out : left_out_) count_out += out != 0 ? 1 : 0;
    });
    return count_out;
  }

  void input_derivatives(View d_outputs, Vector& d_inputs) override {
    d_inputs.resize(records_ * inputs());
    backward(d_outputs, Network<T>::Reach::inputs, [&](std::size_t first, std::size_t) {
      const std::span<const T> values = network_.d_inputs();
      std::copy(values.begin(), values.end(), d_inputs.begin() + static_cast<std::ptrdiff_t>(first * inputs()));
    });
    for (std::size_t i = 0; i < records_; ++i) {
      const MutableView own = row(d_inputs, i, inputs());
      if (out_[i] != 0) std::fill(own.begin(), own.end(), 0.0);
      static_cast<void>(finite_or_zero(d_inputs, i, inputs()));
    }
  }

 private:
  static constexpr std::size_t chunk = GradientSum<T>::chunk_records;

  [[nodiscard]] static MutableView row(Vector& rows, std::size_t i, std::size_t width) {
    return MutableView(rows).subspan(i * width, width);
  }
  /// Sets row i to 0 unless the row is finite. Returns whether the row was finite.
  [[nodiscard]] static bool finite_or_zero(Vector& rows, std::size_t i, std::size_t width) {
    const MutableView own = row(rows, i, width);
    if (all_finite(own)) return true;
    std::fill(own.begin(), own.end(), 0.0);
    return false;
  }

  [[nodiscard]] std::size_t count_from(std::size_t first) const { return std::min(chunk, records_ - first); }

  std::span<const T> forward_chunk(std::size_t first) {
    return network_.forward(parameters_,
                            std::span<const T>(inputs_).subspan(first * inputs(), count_from(first) * inputs()));
  }

  /// take(first, count) after each chunk's pass. The network remembers its last chunk's values alone.
  template <class Take>
  void backward(View d_outputs, typename Network<T>::Reach reach, const Take& take) {
    for (std::size_t first = 0; first < records_; first += chunk) {
      const std::size_t count = count_from(first);
      if (records_ > chunk) forward_chunk(first);
      convert(d_outputs.subspan(first * outputs(), count * outputs()), d_outputs_);
      network_.backward(d_outputs_, reach);
      take(first, count);
    }
  }

  Network<T> network_;
  GradientSum<T> sum_;
  std::size_t records_ = 0;
  std::vector<T> parameters_;
  std::vector<T> inputs_;
  std::vector<T> d_outputs_;
  Vector outputs_;
  std::vector<char> out_;       ///< whether a record is out of range
  std::vector<char> left_out_;  ///< of a chunk's records
};

}  // namespace

std::unique_ptr<NetworkBlock> make_network_block(const Architecture& architecture, Precision precision) {
  if (precision == Precision::full) return std::make_unique<BlockOf<double>>(architecture);
  return std::make_unique<BlockOf<float>>(architecture);
}

}  // namespace starling
