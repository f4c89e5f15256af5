#include "infer_engine.hpp"

#include <utility>

#include "engines.hpp"
#include "methods/infer/setting/infer_config.hpp"
#include "net/agreement.hpp"
#include "protocol/observer.hpp"

namespace starling {

Round rounds_done(Agreement& agreement, const InferEngine& engine) {
  return agreement.max(declare_public(engine.view().done()));
}

std::unique_ptr<InferEngine> make_engine(EngineParts parts) {
  if (parts.config.newton()) return make_newton_engine(std::move(parts));
  if (parts.schedule != nullptr) return make_decentralized_engine(std::move(parts));
  return make_aggregated_engine(std::move(parts));
}

}  // namespace starling
