// Predictions of held-out records by all parties together.
#include "protocol/vertical/vertical_predictions.hpp"

#include "data/vertical/vertical.hpp"
#include "loss/target_loss.hpp"
#include "net/root/root.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "privacy/without_noise.hpp"
#include "protocol/vertical/vertical.hpp"

namespace starling {

void decode_rows(std::span<const std::byte> bytes, const Quantiser& quantiser, const std::vector<std::size_t>& widths,
                 std::size_t count, std::vector<Vector>& rows) {
  rows.resize(widths.size());
  for (std::size_t k = 0; k < widths.size(); ++k) {
    const std::size_t numbers = count * widths[k];
    rows[k].resize(numbers);
    quantiser.decode(bytes.first(quantiser.bytes(numbers)), rows[k]);
    bytes = bytes.subspan(quantiser.bytes(numbers));
  }
}

void send_held_out(Root& root, VerticalStream& held_out, const HeldOutMessages& messages) {
  Released<Vector> sent = declare_public(Vector());
  Released<std::vector<std::byte>> bytes = declare_public(std::vector<std::byte>());
  std::vector<Vector> received;
  const std::size_t before = root.aggregates() ? 1 : 0;  // the fusion centre, among the clients of rank 0
  for (Round t = 0;; ++t) {
    held_out.load(t);
    const std::size_t count = held_out.learning();
    if (count == 0) return;
    std::vector<std::size_t> lengths{0};
    for (const std::size_t width : messages.widths) lengths.push_back(count * width);
    const auto contribution = [&](std::size_t local) -> const Released<Vector>& {
      DeclaredPublic::publish(messages.rows(local - before), sent);
      return sent;
    };
    root.collect(lengths, contribution, messages.quantiser, bytes);
    if (!root.aggregates()) continue;
    decode_rows(bytes.value(), messages.quantiser, messages.widths, count, received);
    messages.take(received);
  }
}

Score Vertical::predict(VerticalStream& held_out, const std::function<void(View outputs, View targets)>& look) {
  Score total;
  Released<Vector> targets = declare_public(Vector());
  const auto rows = [&](std::size_t k) -> const Secret<Vector>& {
    make_rows(parties_[k], held_out.inputs(parties_[k].hosted), 0, held_out.learning());
    return rows_;
  };
  const auto take = [&](const std::vector<Vector>& received) {
    columns_ = received;
    join_embeddings();
    DeclaredPublic::publish(held_out.targets(), targets);
    const std::size_t count = held_out.learning();
    total += score(View(targets.value()).first(count * loss_.targets()));
    const View outputs = plan_.central ? joint_->outputs() : head_loss_.outputs();
    for (std::size_t i = 0; i < count; ++i) {
      const View truth = View(targets.value()).subspan(i * loss_.targets(), loss_.targets());
      if (!is_left_out(truth)) look(outputs.subspan(i * loss_.outputs(), loss_.outputs()), truth);
    }
  };
  send_held_out(evaluation_, held_out, {sent_widths(), up_quantiser(), rows, take});
  return total;
}

}  // namespace starling
