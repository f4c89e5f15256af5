#include "sums_of_run.hpp"

#include <utility>

#include "codec/codec.hpp"
#include "files/tell_user.hpp"
#include "methods/renewable/renewable_method.hpp"
#include "output/directory/owners_file.hpp"
#include "output/directory/run_directory.hpp"
#include "privacy/statement/statement.hpp"
#include "protocol/renewable/noisy_sum.hpp"
#include "report/summary.hpp"
#include "run/identity/introductions.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

std::unique_ptr<Codec> codec_of(const RenewableParts& parts) {
  const bool sums = parts.config.variant == RenewableVariant::private_sums;
  return make_curvature_codec(parts.config.curvature, parts.model->dimension() + (sums ? 0 : 2), parts.model->order());
}

}  // namespace

SumsOfRun::SumsOfRun(const BegunRun& begun, const RenewableParts& parts, Root& root, Model& learned)
    : begun_(begun),
      parts_(parts),
      codec_(codec_of(parts)),
      clients_(*parts.model, learned, begun.privacy->accounts(), begun.privacy->keys(),
               std::move(begun.context.inputs.dataset.streams), parts.config.data.batch) {
  if (parts.config.variant == RenewableVariant::private_sums) make_noisy_sum(root);
}

SumsOfRun::~SumsOfRun() = default;

/// **Collective.**
void SumsOfRun::make_noisy_sum(Root& root) {
  RunPrivacy& privacy = *begun_.privacy;
  const auto price = [&privacy](Round t) { return privacy.price_at(0, t); };
  switch (parts_.config.trust) {
    case TrustChoice::local:
    case TrustChoice::pairs:
      sum_ = std::make_unique<LocalNoise>(root, clients_, *parts_.model, privacy.mechanism(), *codec_);
      return;
    case TrustChoice::central:
      sum_ = std::make_unique<CentralNoise>(root, clients_, *parts_.model, privacy.mechanism(), price, *codec_);
      return;
    case TrustChoice::masked:
      sum_ = std::make_unique<MaskedNoise>(
          root, clients_, *parts_.model, dynamic_cast<MaskedGaussian&>(privacy.protection()), agree_on_masks(), price);
      return;
  }
}

/// **Collective.**
std::vector<Masker> SumsOfRun::agree_on_masks() {
  RunContext& run = begun_.context;
  std::vector<MaskKey> own;
  run.agreement.together([&] {
    // Keys are new ones whenever a run starts, so that a resumed run does not mask other numbers alike.
    for (Client k = 0; k < run.inputs.client_count(); ++k) own.push_back(MaskKey::random());
  });
  mask_keys_ = received_keys(own, relay_of(run.agreement, run.inputs.introductions.get(), "public keys of masks"));
  show_mask_keys();
  std::vector<Masker> maskers;
  run.agreement.together([&] {
    for (std::size_t k = 0; k < own.size(); ++k) {
      maskers.emplace_back(own[k], run.inputs.first_client() + static_cast<Client>(k), mask_keys_, begun_.run_id);
    }
  });
  return maskers;
}

/// Every rank prints and stores the mask keys that its clients received, so that their owners can compare them without
/// the relay. **Collective.**
void SumsOfRun::show_mask_keys() const {
  RunContext& run = begun_.context;
  const std::string all = fingerprint(mask_keys_);
  run.agreement.together([&] {
    if (run.inputs.client_count() == 0) return;
    const std::string file = begun_.directory.private_folder(run.world.rank()) + "/mask-keys";
    OwnersFile::replace(file, Secret<std::string>(list_of_keys(mask_keys_)));
    const Client first = run.inputs.first_client();
    tell_user("note: {} received mask keys with the fingerprint {} ({} has each; all clients' must be the same)\n",
              name_of(ClientRange(first, first + run.inputs.client_count() - 1)), all, file);
  });
  const auto of_ranks = run.agreement.all_gather(declare_public(all));
  run.agreement.together([&] {
    for (std::size_t r = 1; r < of_ranks.size(); ++r) {
      check<DataError>(of_ranks[r] == of_ranks[0],
                       "rank {} received other public keys for the masks than rank 0: whoever relays them exchanged "
                       "some. Do not go on; compare private/<rank>/mask-keys.",
                       r);
    }
  });
}

void SumsOfRun::name_keys(Summary& summary) const {
  if (mask_keys_.empty()) return;
  Trust& trust = summary.part<PrivacyReport>().trust;
  trust.key_list = fingerprint(mask_keys_);
  for (const MaskKey::Bytes& key : mask_keys_) trust.keys.push_back(fingerprint(key));
}

}  // namespace starling
