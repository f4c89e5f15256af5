// Predictions of held-out records by all parties together.
#include <algorithm>

#include "starling/privacy/declared_public.hpp"
#include "starling/protocol/vertical/vertical.hpp"

namespace starling {

Score Vertical::predict(VerticalStream& held_out, const std::function<void(View outputs, View targets)>& look) {
  Score total;
  Released<Vector> targets = declare_public(Vector());
  for (Round t = 0;; ++t) {
    held_out.load(t);
    const std::size_t count = held_out.learning();
    if (count == 0) return total;
    const std::vector<std::size_t> lengths = up_lengths(count);
    evaluation_.collect(
        lengths,
        [&](std::size_t local) -> const Released<Vector>& {
          Party& party = parties_[local - parties_.front().local];
          make_rows(party, held_out.inputs(party.hosted), 0, count);
          DeclaredPublic::publish(rows_, sent_);
          return sent_;
        },
        up_quantiser(), messages_);
    if (!root_.aggregates()) continue;
    open_messages(lengths, messages_.value());
    DeclaredPublic::publish(held_out.targets(), targets);
    total += score(View(targets.value()).first(count * loss_.targets()));
    const View outputs = plan_.central ? joint_->outputs() : head_loss_.outputs();
    for (std::size_t i = 0; i < count; ++i) {
      const View truth = View(targets.value()).subspan(i * loss_.targets(), loss_.targets());
      if (!is_left_out(truth)) look(outputs.subspan(i * loss_.outputs(), loss_.outputs()), truth);
    }
  }
}

}  // namespace starling
