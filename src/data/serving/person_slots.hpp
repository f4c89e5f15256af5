/// The records that a pipe gives in one round, gathered by person.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "data/serving/person_uses.hpp"

namespace starling {

/// The slots of one round. Each has the record of a person, or nothing: a row that cannot be read, or is left out.
///
/// Sensitivity of a run. Let two streams differ in the slots of one person p alone. A slot of p has in each stream any
/// record of p, or nothing; the other slots are the same. Every other person is used in the same rounds of both
/// streams, with the same records, because uses are counted by a person's own slots. So in each round only p's
/// contribution differs. It has a norm of at most C where p is used, and is zero elsewhere. Let A and B be the sets of
/// rounds that use p in the two streams, each of K rounds at most. A round of A ∩ B moves by at most 2C, and any other
/// round of A ∪ B by at most C. With the price p_t of a movement by 2C, Laplace noise costs
///
///   Σ_{A ∩ B} p_t + ½ Σ_{A ∪ B − A ∩ B} p_t = ½ Σ_A p_t + ½ Σ_B p_t,
///
/// and Gaussian noise, in squares of μ, costs Σ_{A ∩ B} p_t² + ¼ Σ_{A ∪ B − A ∩ B} p_t² <= ½ Σ_A p_t² + ½ Σ_B p_t².
/// Both are at most the cost of the K dearest releases. For K = 1 this holds under correlated noise too, by the
/// triangle inequality.
class PersonSlots {
 public:
  void clear();
  /// `value` is that of the person's column.
  void add(const std::string& value, const Row& row, double label);
  /// Writes the persons that are used in this round to `batch`, in the order of their first slots. Persons that `most`
  /// rounds have used add nothing.
  void serve(PersonUses& uses, std::int64_t most, Batch& batch);

 private:
  std::vector<std::string> values_;
  Batch records_;
};

}  // namespace starling
