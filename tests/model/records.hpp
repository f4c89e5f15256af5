/// Random records for the tests of models.
#pragma once

#include "core/random.hpp"
#include "loss/examples.hpp"
#include "model/model.hpp"
#include "support/testing.hpp"

namespace starling::testing_support {

/// One loss, with or without an intercept.
struct LinearCase {
  LossExample loss;
  bool intercept;
};

/// How gtest shows one.
inline void PrintTo(const LinearCase& c, std::ostream* out) {
  *out << c.loss.spec << (c.intercept ? ", intercept" : "");
}

inline std::vector<LinearCase> linear_cases() {
  std::vector<LinearCase> cases;
  for (const LossExample& example : loss_examples()) {
    cases.push_back({example, false});
    cases.push_back({example, true});
  }
  return cases;
}

inline std::string case_name(const LinearCase& c) {
  return test_name(c.loss.spec + (c.intercept ? "_intercept" : ""));
}

/// The same records twice: as dense rows, and as sparse rows without their zeros.
struct TwinBatch {
  Batch dense;
  Batch sparse;
};

/// `count` records of which about half the features are zero; the first record has no other.
inline TwinBatch random_records(const Loss& loss, const LossExample& example, std::size_t features, std::size_t count,
                                AddressedRandom& random) {
  TwinBatch batch;
  for (std::size_t i = 0; i < count; ++i) {
    Vector values(features);
    Vector entries;
    std::vector<std::int32_t> index;
    for (std::size_t j = 0; j < features; ++j) {
      if (i == 0 || random.below(2) == 0) continue;
      values[j] = random.normal();
      entries.push_back(values[j]);
      index.push_back(static_cast<std::int32_t>(j));
    }
    const double label = loss.label(example.labels[random.below(example.labels.size())]);
    batch.dense.add({values, {}}, label);
    batch.sparse.add({entries, index}, label);
  }
  return batch;
}

/// The i-th record alone.
inline Batch single(const Batch& batch, std::size_t i) {
  Batch one;
  one.add(batch.row(i), batch.label(i));
  return one;
}

inline Vector random_parameters(std::size_t d, AddressedRandom& random) {
  Vector parameters(d);
  for (double& value : parameters) value = random.normal();
  return parameters;
}

}  // namespace starling::testing_support
