// Logistic regression as a plug-in. Its options name what it writes beyond: losses, gradients, or far (of gradients).
// With the option upward it changes how the processor rounds.
#include <cfenv>
#include <cmath>
#include <starling/plugin.h>
#include <string>

namespace {

size_t dimension(void* /*self*/, size_t features) {
  return features;
}

int gradients(void* self, const double* point, const starling_batch* batch, double* losses, double* rows) {
  const std::string& beyond = *static_cast<std::string*>(self);
  if (beyond == "upward") std::fesetround(FE_UPWARD);
  const size_t p = batch->features;
  for (size_t i = 0; i < batch->rows; ++i) {
    const double* x = batch->x + i * batch->stride;
    double score = 0;
    for (size_t j = 0; j < p; ++j) score += point[j] * x[j];
    losses[i] = std::log1p(std::exp(-batch->y[i] * score));
    for (size_t j = 0; j < p; ++j) rows[i * p + j] = -batch->y[i] / (1 + std::exp(batch->y[i] * score)) * x[j];
  }
  if (beyond == "losses") losses[batch->rows] = 1;
  if (beyond == "gradients") rows[batch->rows * p] = 1;
  if (beyond == "far") rows[batch->rows * p + 8] = 1;
  return 0;
}

void destroy(void* self) {
  delete static_cast<std::string*>(self);
}

}  // namespace

STARLING_PLUGIN int starling_plugin(unsigned abi, const char* options, starling_model* out) {
  if (abi != STARLING_PLUGIN_ABI) return 1;
  out->self = new std::string(options);
  out->dimension = dimension;
  out->gradients = gradients;
  out->destroy = destroy;
  if (std::string(options) == "upward") std::fesetround(FE_UPWARD);
  out->slope = *options == '\0' ? 0.5 : 0;
  return 0;
}
