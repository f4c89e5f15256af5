// A factorization machine as a plug-in: classification by pairwise products of features, with labels -1 and 1.
//
//   c++ -std=c++17 -O2 -shared -fPIC -Iinclude examples/plugin/factorization_machine.cpp -o libfm.so
//   starling omd --model plugin:./libfm.so:rank=4 ...
//
// The score of a record is w0 + w.x + sum over j < k of (v_j . v_k) x_j x_k, with a vector v_j of `rank` numbers for
// each feature. It is computed in a time that grows with rank * features. The loss is logistic. Parameters are w0, w,
// and then v_1, v_2, ...
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <starling/plugin.h>
#include <string>
#include <vector>

namespace {

class FactorizationMachine {
 public:
  explicit FactorizationMachine(std::size_t rank) : rank_(rank), sums_(rank) {}

  std::size_t dimension(std::size_t features) {
    features_ = features;
    return 1 + features * (1 + rank_);
  }

  // Small numbers from the seed: at v = 0 the products would never begin to learn.
  void start(std::uint64_t seed, double* point) const {
    for (std::size_t i = 0; i < 1 + features_ * (1 + rank_); ++i) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      const double uniform = static_cast<double>(seed >> 11) / 9007199254740992.0;
      point[i] = i <= features_ ? 0 : 0.2 * (uniform - 0.5);
    }
  }

  double score(const double* point, const double* x) {
    const double* w = point + 1;
    const double* v = point + 1 + features_;
    double score = point[0];
    for (std::size_t j = 0; j < features_; ++j) score += w[j] * x[j];
    for (std::size_t f = 0; f < rank_; ++f) {
      double sum = 0;
      double squares = 0;
      for (std::size_t j = 0; j < features_; ++j) {
        const double term = v[j * rank_ + f] * x[j];
        sum += term;
        squares += term * term;
      }
      sums_[f] = sum;
      score += 0.5 * (sum * sum - squares);
    }
    return score;
  }

  void gradient(const double* point, const double* x, double slope, double* row) const {
    const double* v = point + 1 + features_;
    row[0] = slope;
    for (std::size_t j = 0; j < features_; ++j) {
      row[1 + j] = slope * x[j];
      for (std::size_t f = 0; f < rank_; ++f) {
        const std::size_t at = j * rank_ + f;
        row[1 + features_ + at] = slope * x[j] * (sums_[f] - v[at] * x[j]);
      }
    }
  }

 private:
  std::size_t rank_;
  std::size_t features_ = 0;
  std::vector<double> sums_;  // of v_jf x_j over j, of the last record that was scored
};

FactorizationMachine& machine(void* self) {
  return *static_cast<FactorizationMachine*>(self);
}

std::size_t dimension(void* self, std::size_t features) {
  return machine(self).dimension(features);
}

int start(void* self, unsigned long long seed, double* point) {
  machine(self).start(seed, point);
  return 0;
}

int gradients(void* self, const double* point, const starling_batch* batch, double* losses, double* rows) {
  const std::size_t d = machine(self).dimension(batch->features);
  for (std::size_t i = 0; i < batch->rows; ++i) {
    const double* x = batch->x + i * batch->stride;
    const double y = batch->y[i] > 0 ? 1 : -1;
    const double margin = y * machine(self).score(point, x);
    losses[i] = margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
    machine(self).gradient(point, x, -y / (1 + std::exp(margin)), rows + i * d);
  }
  return 0;
}

int scores(void* self, const double* point, const starling_batch* batch, double* predictions) {
  for (std::size_t i = 0; i < batch->rows; ++i) {
    predictions[i] = machine(self).score(point, batch->x + i * batch->stride) > 0 ? 1 : -1;
  }
  return 0;
}

const char* error(void*) {
  return "options are rank=NUMBER or nothing";
}

void destroy(void* self) {
  delete static_cast<FactorizationMachine*>(self);
}

}  // namespace

STARLING_PLUGIN int starling_plugin(unsigned abi, const char* options, starling_model* out) {
  if (abi != STARLING_PLUGIN_ABI) return 1;
  out->error = error;
  const std::string text = options;
  std::size_t rank = 2;
  if (!text.empty()) {
    if (text.rfind("rank=", 0) != 0 || std::atoi(text.c_str() + 5) < 1) return 2;
    rank = static_cast<std::size_t>(std::atoi(text.c_str() + 5));
  }
  out->self = new FactorizationMachine(rank);
  out->dimension = dimension;
  out->start = start;
  out->gradients = gradients;
  out->scores = scores;
  out->destroy = destroy;
  out->classifies = 1;
  return 0;
}
