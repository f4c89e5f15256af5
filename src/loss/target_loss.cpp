#include "loss/target_loss.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"

namespace starling {

namespace {

class MeanSquaredError final : public TargetLoss {
 public:
  explicit MeanSquaredError(std::size_t targets) : targets_(targets) {}

  [[nodiscard]] std::size_t outputs() const override { return targets_; }
  [[nodiscard]] std::size_t targets() const override { return targets_; }
  [[nodiscard]] bool classifies() const override { return false; }
  [[nodiscard]] Link link() const override { return Link::identity; }
  [[nodiscard]] std::string loss_of_scores() const override { return targets_ == 1 ? "squared" : ""; }
  [[nodiscard]] bool is_mean_squared_error() const override { return true; }
  [[nodiscard]] double label(double raw) const override { return raw; }
  [[nodiscard]] double value(View outputs, View targets) const override {
    double total = 0;
    for (std::size_t j = 0; j < targets_; ++j) total += (outputs[j] - targets[j]) * (outputs[j] - targets[j]);
    return total / static_cast<double>(targets_);
  }
  void derivative(View outputs, View targets, MutableView derivative) const override {
    for (std::size_t j = 0; j < targets_; ++j) {
      derivative[j] = 2 * (outputs[j] - targets[j]) / static_cast<double>(targets_);
    }
  }
  [[nodiscard]] bool correct(View, View) const override { return false; }
  [[nodiscard]] std::optional<double> margin(View) const override { return std::nullopt; }

 private:
  std::size_t targets_;
};

/// A loss of one label.
class OfOneLabel final : public TargetLoss {
 public:
  explicit OfOneLabel(std::string text) : text_(std::move(text)), loss_(loss_table().make(text_)) {}

  [[nodiscard]] std::size_t outputs() const override { return loss_->scores(); }
  [[nodiscard]] std::size_t targets() const override { return 1; }
  [[nodiscard]] bool classifies() const override { return loss_->classifies(); }
  [[nodiscard]] Link link() const override { return loss_->link(); }
  [[nodiscard]] std::string loss_of_scores() const override { return text_; }
  [[nodiscard]] double label(double raw) const override { return loss_->label(raw); }
  [[nodiscard]] double value(View outputs, View targets) const override { return loss_->value(outputs, targets[0]); }
  void derivative(View outputs, View targets, MutableView derivative) const override {
    loss_->derivative(outputs, targets[0], derivative);
  }
  [[nodiscard]] bool correct(View outputs, View targets) const override { return loss_->correct(outputs, targets[0]); }
  [[nodiscard]] std::optional<double> margin(View outputs) const override {
    if (!classifies() || loss_->scores() > 2) return std::nullopt;
    return loss_->scores() == 2 ? outputs[1] - outputs[0] : outputs[0];
  }

 private:
  std::string text_;
  std::unique_ptr<Loss> loss_;
};

constexpr const char* mean_squared_error = "mse";

/// Whether `text` names a loss of several classes without their number.
bool leaves_classes_open(const std::string& text) {
  return counts_classes(text) && text.find(':') == std::string::npos;
}

/// `text`, with the number of classes if it leaves that open.
std::string with_classes(const std::string& text, std::size_t classes) {
  return leaves_classes_open(text) ? fmt::format("{}:{}", text, classes) : text;
}

}  // namespace

const Table<Loss>& losses_of_one_label() {
  static const Table<Loss> table = losses_that([](const Loss& loss) { return loss.bounded_below(); });
  return table;
}

void check_target_loss(const std::string& text) {
  const std::string name = Spec::parse(text).name();
  std::vector<std::string> known = names_in(losses_of_one_label().rows());
  known.insert(known.begin(), mean_squared_error);
  check(std::ranges::find(known, name) != known.end(), "{}", unknown_name("loss", name, known));
}

std::size_t default_outputs(const std::string& text, std::size_t targets) {
  if (text == mean_squared_error) return targets;
  return loss_table().make(with_classes(text, 2))->scores();
}

std::unique_ptr<TargetLoss> make_target_loss(const std::string& text, std::size_t outputs, std::size_t targets) {
  check_target_loss(text);
  if (text == mean_squared_error) {
    check(outputs == targets,
          "--loss mse with {} outputs of the head for {} target{}: each output is one's estimate. {}.", outputs,
          targets, targets == 1 ? "" : "s", fmt::format("End --head with {}", targets));
    return std::make_unique<MeanSquaredError>(targets);
  }
  check(targets == 1, "--loss {} for records with {} targets: it takes one label. Use --loss mse.", text, targets);
  check(!leaves_classes_open(text) || outputs >= 2,
        "--loss {} with one output of the head: each class has its own. End --head with the number of classes.", text);
  auto loss = std::make_unique<OfOneLabel>(with_classes(text, outputs));
  check(loss->outputs() == outputs,
        "--loss {} takes {} output{}, and the head has {}: they must agree. End --head with {}.", text, loss->outputs(),
        loss->outputs() == 1 ? "" : "s", outputs, loss->outputs());
  return loss;
}

}  // namespace starling
