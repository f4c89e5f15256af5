#include "protocol/vertical/vertical_parts.hpp"

#include "protocol/vertical/vertical.hpp"

namespace starling {

VerticalParts add_vertical_parts(MultipartMechanism& mechanism, const VerticalArchitecture& architecture,
                                 const VerticalPlan& plan) {
  using Scale = MultipartMechanism::Scale;
  const double clip = mechanism.settings().clip;
  const double embedding_clip = mechanism.price_kind() == PriceKind::none ? clip : plan.embedding_clip;
  const auto dimension = [&](const Architecture& of) {
    return make_network_block(of, architecture.precision)->dimension();
  };
  VerticalParts parts;
  for (const Architecture& party : architecture.features) {
    const std::size_t width = architecture.head.input.size() / architecture.parties();
    parts.sent.push_back(plan.central ? mechanism.add("columns", clip, plan.batch * party.input.size(), Scale::rows)
                                      : mechanism.add("embedding", embedding_clip, plan.rows() * width, Scale::rows));
    parts.gradients.push_back(mechanism.add("gradient of a party", clip, dimension(party)));
  }
  const bool secret = plan.labels == LabelHolders::head;
  if (secret || plan.central) parts.head = mechanism.add("gradient of the head", clip, dimension(architecture.head));
  if (secret) {
    parts.derivatives =
        mechanism.add("derivatives by embeddings", clip, plan.rows() * architecture.head.input.size(), Scale::rows);
  }
  return parts;
}

}  // namespace starling
