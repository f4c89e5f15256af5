/* Poisson regression as a plug-in: counts y with mean exp(offset + w.x).
 *
 *   cc -std=c99 -O2 -shared -fPIC -Iinclude examples/plugin/poisson.c -o libpoisson.so -lm
 *   starling omd --model plugin:./libpoisson.so:offset=0.5 ...
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <starling/plugin.h>

typedef struct {
  double offset;
  const char *problem;
} poisson;

static size_t dimension(void *self, size_t features) {
  (void)self;
  return features;
}

static double rate(const poisson *model, const double *point, const double *x, size_t features, double *score) {
  *score = model->offset;
  for (size_t j = 0; j < features; ++j) *score += point[j] * x[j];
  return exp(*score);
}

static int gradients(void *self, const double *point, const starling_batch *batch, double *losses, double *rows) {
  poisson *model = self;
  const size_t p = batch->features;
  for (size_t i = 0; i < batch->rows; ++i) {
    const double *x = batch->x + i * batch->stride;
    const double y = batch->y[i];
    double score;
    if (y < 0) {
      model->problem = "a count is negative";
      return 1;
    }
    const double mean = rate(model, point, x, p, &score);
    losses[i] = mean - y * score;
    for (size_t j = 0; j < p; ++j) rows[i * p + j] = (mean - y) * x[j];
  }
  return 0;
}

/* The mean count. */
static int scores(void *self, const double *point, const starling_batch *batch, double *predictions) {
  double score;
  for (size_t i = 0; i < batch->rows; ++i) {
    predictions[i] = rate(self, point, batch->x + i * batch->stride, batch->features, &score);
  }
  return 0;
}

static const char *error(void *self) {
  return self == NULL ? "options are offset=NUMBER or nothing" : ((poisson *)self)->problem;
}

STARLING_PLUGIN int starling_plugin(unsigned abi, const char *options, starling_model *out) {
  static const char name[] = "offset=";
  if (abi != STARLING_PLUGIN_ABI) return 1;
  out->error = error;
  if (options[0] != '\0' && strncmp(options, name, sizeof name - 1) != 0) return 2;
  poisson *model = malloc(sizeof *model);
  if (model == NULL) return 3;
  model->offset = options[0] != '\0' ? atof(options + sizeof name - 1) : 0;
  model->problem = NULL;
  out->self = model;
  out->dimension = dimension;
  out->gradients = gradients;
  out->scores = scores;
  out->destroy = free;
  return 0;
}
