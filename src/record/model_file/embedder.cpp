#include "starling/record/model_file/embedder.hpp"

#include <cmath>

#include "starling/core/check.hpp"
#include "starling/privacy/clip_rows.hpp"

namespace starling {

Embedder::Embedder(const SavedModel& part)
    : part_(part), network_(make_network_block(part.architecture, part.precision)) {
  check<DataError>(network_->dimension() == part.parameters.size() && network_->inputs() == part.features &&
                       network_->outputs() == part.scores,
                   "the part of party {} has a network of {} inputs and {} outputs for {} features and embeddings of "
                   "{}. Restore the file.",
                   part.party, network_->inputs(), network_->outputs(), part.features, part.scores);
}

void Embedder::embed(View columns, Vector& embeddings) {
  const View outputs = network_->forward(part_.parameters, columns);
  embeddings.assign(outputs.begin(), outputs.end());
  const Clip clip = std::isinf(part_.embedding_bound) ? Clip() : Clip{ClipKind::l2, part_.embedding_bound};
  clip_rows(embeddings, part_.scores, clip);
}

}  // namespace starling
