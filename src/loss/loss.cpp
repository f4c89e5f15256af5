/// The table of losses, and functions on labels and batches that all losses share.
#include "loss/loss.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/numerics/kernels.hpp"
#include "core/record_error.hpp"
#include "kinds.hpp"

namespace starling {

// A row stands beside its loss. To add a loss, declare its row here and list it in loss_table().
LossRow absolute_row();
LossRow dwd_row();
LossRow expectile_row();
LossRow gamma_row();
LossRow hazard_row();
LossRow hinge_row();
LossRow huber_row();
LossRow linear_row();
LossRow logistic_row();
LossRow poisson_row();
LossRow quantile_row();
LossRow softmax_row();
LossRow squared_row();

const Table<Loss>& loss_table() {
  static const Table<Loss> table(
      "loss", {logistic_row(), hazard_row(), dwd_row(), squared_row(), huber_row(), expectile_row(), poisson_row(),
               gamma_row(), absolute_row(), quantile_row(), hinge_row(), linear_row(), softmax_row()});
  return table;
}

Table<Loss> losses_that(bool (*hold)(const Loss&)) {
  std::vector<LossRow> rows;
  for (const LossRow& row : loss_table().rows()) {
    const std::unique_ptr<Loss> loss = loss_table().make(row.name + (counts_classes(row.name) ? ":2" : ""));
    if (hold(*loss)) rows.push_back(row);
  }
  return {"loss", std::move(rows)};
}

bool has_parameter(const std::string& text, std::string_view key) {
  const std::string name = text.substr(0, text.find(':'));
  return std::ranges::any_of(loss_table().rows(), [&](const LossRow& row) {
    return row.name == name && std::ranges::any_of(row.parameters, [&](const Parameter& p) { return p.key == key; });
  });
}

bool counts_classes(const std::string& text) {
  return has_parameter(text, "classes");
}

std::unique_ptr<CurvedLoss> make_curved_loss(const std::string& text, const Table<Loss>& table) {
  std::unique_ptr<Loss> loss = table.make(text);
  check(loss->curved() != nullptr,
        "loss '{}': it has no curvature, which a second-order method needs. Take one of: {}.", text,
        losses_that([](const Loss& each) { return each.curved() != nullptr; }).names());
  return std::unique_ptr<CurvedLoss>(static_cast<CurvedLoss*>(loss.release()));
}

bool gives_probabilities(Link link) {
  return link == Link::logit || link == Link::softmax || link == Link::hazard;
}

std::size_t classes_of(const Loss& loss) {
  return std::max<std::size_t>(loss.scores(), 2);
}

Vector scores_of(Link link, View probabilities) {
  const double last = probabilities.back();
  if (link == Link::logit) return {std::log(last / (1 - last))};
  if (link == Link::hazard) return {std::log(-std::log1p(-last) / std::numbers::ln2)};
  Vector scores(probabilities.begin(), probabilities.end());
  for (double& each : scores) each = std::log(each);
  const double mean = sum(scores) / static_cast<double>(scores.size());
  for (double& each : scores) each -= mean;
  return scores;
}

bool is_highest(View scores, std::size_t k) {
  for (std::size_t other = 0; other < scores.size(); ++other) {
    if (other != k && !(scores[k] > scores[other])) return false;
  }
  return true;
}

void throw_label_fault(double raw, const std::string& fault) {
  throw RecordError("a label " + fault, fmt::format("label {} {}", raw, fault));
}

bool is_class(double label, std::size_t classes) {
  return label >= 0 && label < static_cast<double>(classes) && label == std::floor(label);
}

void Loss::evaluate(View scores, View labels, MutableView derivatives, LossTally& tally) const {
  evaluate_each(*this, scores, labels, derivatives, tally);
}

}  // namespace starling
