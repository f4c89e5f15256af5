/// The sums over clients that a run of renewable estimation makes, with what protects them.
#pragma once

#include <memory>
#include <vector>

#include "privacy/mechanism/masking.hpp"
#include "protocol/renewable/renewable_clients.hpp"

namespace starling {

class Codec;
class NoisySum;
class Root;
class Summary;
struct BegunRun;
struct RenewableParts;

/// This rank's clients, the code of their curvature, and under the variant `private` their noisy sum. Under
/// `--trust masked` clients have agreed on masks.
class SumsOfRun {
 public:
  /// `learned` is the model whose gradients are clipped and released. Takes the run's streams. Keeps references.
  /// **Collective.** Throws DataError if ranks received other keys of masks.
  SumsOfRun(const BegunRun& begun, const RenewableParts& parts, Root& root, Model& learned);
  ~SumsOfRun();

  [[nodiscard]] RenewableClients& clients() { return clients_; }
  [[nodiscard]] const Codec& codec() const { return *codec_; }
  /// The noisy sum of the variant `private`.
  [[nodiscard]] NoisySum& noisy_sum() const { return *sum_; }
  /// Adds the fingerprints of the keys of masks to the privacy report.
  void name_keys(Summary& summary) const;

 private:
  void make_noisy_sum(Root& root);
  [[nodiscard]] std::vector<Masker> agree_on_masks();
  void show_mask_keys() const;

  const BegunRun& begun_;
  const RenewableParts& parts_;
  std::unique_ptr<Codec> codec_;
  RenewableClients clients_;
  std::vector<MaskKey::Bytes> mask_keys_;  ///< of all clients, as this rank received them; empty without masks
  std::unique_ptr<NoisySum> sum_;          ///< null of other variants
};

}  // namespace starling
