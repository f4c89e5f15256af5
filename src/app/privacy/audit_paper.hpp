/// The published perturbation of renewable estimation as an audit subject: all models of a stream.
#pragma once

#include "privacy/audit/audit_subjects.hpp"
#include "privacy/mechanism/paper_perturbation.hpp"

namespace starling {

inline constexpr std::size_t most_paper_features = 3;

/// A stream of one client, and the settings for learning from the stream.
struct PaperStream {
  std::size_t features = 1;  ///< p, 1 to 3; θ has p weights and an intercept
  std::size_t batch = 20;    ///< records in each batch
  Round rounds = 10;         ///< batches
  double row_norm = 7;       ///< ‖(1, x)‖₂ of every record, at least 1, whatever C2 says
};

/// Algorithm 2 of Guo et al. as printed (q = 1, its smoothing, start at zero, penalty λ on all of θ): sides differ in
/// the label of the first record of the first batch, and what is seen are the models after all batches, rounds × (p +
/// 1) doubles. Throws UsageError for values out of range. Keeps a reference to the mechanism, whose dimension is p + 1.
[[nodiscard]] AuditSubject paper_subject(PaperPerturbation& mechanism, const PaperStream& stream,
                                         const AuditKeys& keys);

}  // namespace starling
