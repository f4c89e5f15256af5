/// The rounds and results of `starling vertical --protocol embeddings`.
#pragma once

#include <memory>
#include <vector>

namespace starling {

class Method;
class Play;
class Quantiser;
struct BegunRun;
struct VerticalSetting;

/// The quantisers of embeddings.
struct EmbeddingQuantisers {
  std::shared_ptr<const Quantiser> quantiser = nullptr;
  std::vector<std::shared_ptr<const Quantiser>> by_bits = {};  ///< where the number of bits changes
  std::vector<long long> bits = {};                            ///< of each round, likewise
};

/// The play of a run on embeddings. **Collective.**
[[nodiscard]] std::unique_ptr<Play> make_embeddings_play(const BegunRun& begun, const Method& method,
                                                         VerticalSetting& setting, EmbeddingQuantisers quantisers);

}  // namespace starling
