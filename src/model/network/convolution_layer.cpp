#include <cstring>

#include <fmt/format.h>

#include "core/check.hpp"
#include "layer_arithmetic.hpp"
#include "layers.hpp"
#include "product.hpp"

namespace starling {

namespace {

/// Convolution as a product of patches, one row for each place of the kernel, and weights. Patches are laid out for a
/// few records at a time, so that they stay near.
template <class T>
class Convolution final : public Layer<T> {
 public:
  Convolution(const ImageShape& inputs, const ConvolutionLayer& spec, LayerFacts facts)
      : Layer<T>(std::move(facts)),
        in_(inputs),
        kernel_(spec.kernel),
        channels_(spec.channels),
        run_(kernel_ * in_.channels),
        patch_(kernel_ * run_),
        down_(in_.height - kernel_ + 1),
        across_(in_.width - kernel_ + 1),
        places_(down_ * across_),
        at_once_(std::max<std::size_t>(1, numbers_at_once / (places_ * patch_))) {}

  void forward(const T* parameters, std::size_t records, const T* x, T* y) override {
    fill_rows(records * places_, channels_, parameters + patch_ * channels_, y);
    in_blocks(records, [&](std::size_t from, std::size_t count) {
      product_(count * places_, channels_, patch_, patches_of(x, from, count), rows_of(parameters, channels_),
               y + from * places_ * channels_, Into::sum);
    });
  }

  void backward(const T* parameters, std::size_t records, const T* /*x*/, const T* /*y*/, const T* d_y,
                T* d_x) override {
    std::fill_n(d_x, records * in_.size(), T(0));
    in_blocks(records, [&](std::size_t from, std::size_t count) {
      T* const d_patches = patches_.take(count * places_ * patch_);
      product_(count * places_, patch_, channels_, rows_of(d_y + from * places_ * channels_, channels_),
               transposed(rows_of(parameters, channels_)), d_patches, Into::new_matrix);
      for (std::size_t i = 0; i < count; ++i) {
        add_patches(d_patches + i * places_ * patch_, d_x + (from + i) * in_.size());
      }
    });
  }

  void gradient(std::size_t records, const T* x, const T* d_y, T* sum) override {
    std::fill_n(sum, patch_ * channels_, T(0));
    in_blocks(records, [&](std::size_t from, std::size_t count) {
      product_(patch_, channels_, count * places_, transposed(patches_of(x, from, count)),
               rows_of(d_y + from * places_ * channels_, channels_), sum, Into::sum);
    });
    sum_rows(records * places_, channels_, d_y, sum + patch_ * channels_);
  }

  // A record's gradient is a sum over all places: the norm has no shortcut. The gradient is formed, and kept for the
  // weighted sum. The gradient that is measured is thus the one that is added.
  void record_norms(std::size_t records, const T* x, const T* d_y, Norm norm, std::span<double> norms) override {
    const std::size_t d = this->facts().parameters;
    gradients_.resize(std::max(gradients_.size(), records * d));
    for (std::size_t i = 0; i < records; ++i) {
      gradient(1, x + i * in_.size(), d_y + i * places_ * channels_, &gradients_[i * d]);
      norms[i] = norm_of(&gradients_[i * d], d, norm);
    }
  }

  void weighted_gradient(std::span<const double> factors, const T* /*x*/, T* /*d_y*/, T* sum) override {
    const std::size_t d = this->facts().parameters;
    std::fill_n(sum, d, T(0));
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto factor = static_cast<T>(factors[i]);
      const T* const gradient = &gradients_[i * d];
      for (std::size_t j = 0; j < d; ++j) sum[j] += factor * gradient[j];
    }
  }

 private:
  static constexpr std::size_t numbers_at_once = std::size_t{1} << 17;

  template <class F>
  void in_blocks(std::size_t records, F&& f) {
    for (std::size_t from = 0; from < records; from += at_once_) f(from, std::min(at_once_, records - from));
  }

  /// A row for each place of the kernel in `count` images.
  Operand<T> patches_of(const T* x, std::size_t from, std::size_t count) {
    T* const room = patches_.take(count * places_ * patch_);
    for (std::size_t i = 0; i < count; ++i) {
      const T* const image = x + (from + i) * in_.size();
      T* const out = room + i * places_ * patch_;
      run_ == 5 ? lay_out<5>(image, out) : lay_out<0>(image, out);
    }
    return rows_of<T>(room, patch_);
  }

  /// With `Run` numbers side by side, known beforehand where they are so few that a call for them would cost more.
  template <std::size_t Run>
  void lay_out(const T* image, T* out) const {
    const std::size_t run = Run == 0 ? run_ : Run;
    for (std::size_t top = 0; top < down_; ++top) {
      for (std::size_t left = 0; left < across_; ++left) {
        const T* point = image + (top * in_.width + left) * in_.channels;
        for (std::size_t k = 0; k < kernel_; ++k, out += run, point += in_.width * in_.channels) {
          std::memcpy(out, point, run * sizeof(T));
        }
      }
    }
  }

  /// Adds the patches of one image to the places that they were taken from.
  void add_patches(const T* patches, T* image) const {
    for (std::size_t top = 0; top < down_; ++top) {
      for (std::size_t left = 0; left < across_; ++left) {
        T* point = image + (top * in_.width + left) * in_.channels;
        for (std::size_t k = 0; k < kernel_; ++k, patches += run_, point += in_.width * in_.channels) {
          for (std::size_t j = 0; j < run_; ++j) point[j] += patches[j];
        }
      }
    }
  }

  ImageShape in_;
  std::size_t kernel_;
  std::size_t channels_;
  std::size_t run_;    ///< numbers of a patch that stand side by side in the image
  std::size_t patch_;  ///< numbers of a patch
  std::size_t down_;
  std::size_t across_;
  std::size_t places_;
  std::size_t at_once_;  ///< records
  Product<T> product_;
  Workspace<T> patches_;
  std::vector<T> gradients_;  ///< of records, one after the other
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_convolution(const ImageShape& inputs, const ConvolutionLayer& spec) {
  check(spec.kernel >= 1 && spec.kernel <= inputs.height && spec.kernel <= inputs.width,
        "a convolution of {0}x{0} on images of {1}x{2} points: the kernel must fit into them. Use larger images or "
        "fewer layers.",
        spec.kernel, inputs.height, inputs.width);
  LayerFacts facts;
  facts.inputs = inputs;
  facts.outputs = {inputs.height - spec.kernel + 1, inputs.width - spec.kernel + 1, spec.channels};
  facts.fan_in = spec.kernel * spec.kernel * inputs.channels;
  facts.parameters = (facts.fan_in + 1) * spec.channels;
  facts.name = fmt::format("convolution {0}x{0} {1}-{2}", spec.kernel, inputs.channels, spec.channels);
  return std::make_unique<Convolution<T>>(inputs, spec, std::move(facts));
}

template std::unique_ptr<Layer<float>> make_convolution(const ImageShape&, const ConvolutionLayer&);
template std::unique_ptr<Layer<double>> make_convolution(const ImageShape&, const ConvolutionLayer&);

}  // namespace starling
