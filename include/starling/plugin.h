/* A model of your own for starling, as a shared library: `starling omd --model plugin:./libmine.so`.
 *
 * The library has one function, starling_plugin, which fills in a starling_model. This header is C99 and needs nothing
 * else. docs/how-to/bring-your-own-model.md has examples.
 *
 * starling clips, sums and noises the gradients itself. What a function returns for a record must depend on the
 * parameters and this record alone: not on other records, on their number or order, on earlier calls or on random
 * numbers. It must write into its results alone, must not send or store records, and must not end the process. Then
 * wrong numbers cost accuracy, and not privacy. Under noise starling asks for one record at a time, and tries the model
 * on public random records first.
 */
#ifndef STARLING_PLUGIN_H
#define STARLING_PLUGIN_H

#include <stddef.h>

/* Version of this header. It changes whenever a library that was made with an older header would not work any more. */
#define STARLING_PLUGIN_ABI 1u

#ifdef __cplusplus
#define STARLING_PLUGIN extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define STARLING_PLUGIN __attribute__((visibility("default")))
#endif

/* Records. Record i has the features x[i * stride] ... x[i * stride + features - 1] and the label y[i]. */
typedef struct {
  size_t rows;
  size_t features;
  const double *x;
  size_t stride;
  const double *y;
} starling_batch;

/* A model with d parameters. Functions get `self` first. Those that return an int return 0 for success. Any other
 * number is a failure: under noise the record counts as zero, otherwise the run ends. `error` is then asked for a
 * message, which only the owner of the records gets to see. */
typedef struct starling_model {
  /* Number d > 0 of parameters for records of so many features. */
  size_t (*dimension)(void *self, size_t features);

  /* Writes the d numbers to start from, which depend on the seed alone. May be NULL: zeros. */
  int (*start)(void *self, unsigned long long seed, double *point);

  /* Writes the loss of each record (rows numbers) and its gradient at `point`, not clipped, row after row
   * (rows * d numbers). A record whose numbers are not finite counts as absent. */
  int (*gradients)(void *self, const double *point, const starling_batch *batch, double *losses, double *gradients);

  /* Writes a prediction of the label for each record (rows numbers), whose labels may be unknown: they are 0 then.
   * May be NULL. */
  int (*scores)(void *self, const double *point, const starling_batch *batch, double *scores);

  /* Text about the last call that failed. May be NULL. */
  const char *(*error)(void *self);

  /* Frees `self`. May be NULL. */
  void (*destroy)(void *self);

  void *self;

  /* 1 if labels are classes and scores are numbers of classes, so that starling counts how many are right. */
  int classifies;

  /* |dl/ds| at s = 0 if the loss is a convex function l(s) of one score s, the product of the point and the features:
   * 0.5 for logistic regression. starling then chooses batch, clip and steps as for its own linear models. 0 if the
   * model is another, or nobody knows. */
  double slope;
} starling_model;

/* Makes a model. `abi` is the STARLING_PLUGIN_ABI of starling; a library that was made for another one returns an
 * error. `options` is what follows the library's name and a colon: often key=value,key=value; "" without any. Members
 * of *out that are not set are zero. Returns 0 for success. Otherwise starling asks out->error, if it is set, for a
 * message. */
STARLING_PLUGIN int starling_plugin(unsigned abi, const char *options, starling_model *out);

#ifdef __cplusplus
}
#endif

#endif
