/// The engines of `starling infer`, one for each way to an estimate.
#pragma once

#include <memory>

namespace starling {

class InferEngine;
struct EngineParts;

/// Steps that rank 0 takes by what clients release.
[[nodiscard]] std::unique_ptr<InferEngine> make_aggregated_engine(EngineParts parts);
/// The rounds of `--estimator newton`.
[[nodiscard]] std::unique_ptr<InferEngine> make_newton_engine(EngineParts parts);
/// Steps of clients that mix with their neighbours.
[[nodiscard]] std::unique_ptr<InferEngine> make_decentralized_engine(EngineParts parts);

}  // namespace starling
