#include "prediction_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/numerics/hazard.hpp"
#include "core/numerics/logistic.hpp"
#include "files/text_files.hpp"
#include "output/intervals/interval_recorder.hpp"

namespace starling {

namespace {

constexpr double level_of_predictions = 0.95;

/// Class of a label of the source, in the order of PredictionLines; none for a label that the loss does not take.
std::optional<std::size_t> class_of_label(const SavedModel& model, const Loss& loss, double raw) {
  const std::vector<double>& positive = model.constants.positive;
  if (!positive.empty()) raw = std::find(positive.begin(), positive.end(), raw) != positive.end() ? 1 : -1;
  if (const std::vector<double>& classes = model.constants.class_labels; !classes.empty()) {
    const auto found = std::find(classes.begin(), classes.end(), raw);
    return found == classes.end() ? std::nullopt : std::optional<std::size_t>(found - classes.begin());
  }
  try {
    const double label = loss.label(raw);
    return loss.scores() == 1 ? static_cast<std::size_t>(label > 0) : static_cast<std::size_t>(label);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Label of a class in the order of PredictionLines, as the loss has it.
double label_of_class(const Loss& loss, std::size_t k) {
  return loss.scores() == 1 ? (k == 0 ? -1.0 : 1.0) : static_cast<double>(k);
}

/// Names of the classes: the texts of the label's column, where one stands for each, else the declared labels, else the
/// loss's own.
std::vector<std::string> names_of_classes(const SavedModel& model, const Loss& loss) {
  const std::map<double, std::string> texts = texts_of_classes(model, loss);
  std::vector<std::string> names;
  const std::size_t count = std::max<std::size_t>(loss.scores(), 2);
  for (std::size_t k = 0; k < count; ++k) {
    const double label = label_of_class(loss, k);
    const auto text = texts.find(label);
    names.push_back(text == texts.end() ? fmt::format("{}", label) : text->second);
  }
  return names;
}

/// Texts of the label's column by the labels that they stand for, where one stands for each.
std::map<double, std::string> texts_of_labels(const SavedModel& model) {
  std::map<double, std::string> names;
  for (const CategoryColumn& table : model.constants.categories) {
    if (table.column != model.constants.label || !model.constants.positive.empty()) continue;
    std::map<double, int> uses;
    for (const auto& [text, value] : table.values) ++uses[value];
    for (const auto& [text, value] : table.values) {
      if (uses[value] == 1) names[value] = csv_text(text);
    }
  }
  return names;
}

/// Length of a comma and a number at most.
constexpr std::size_t longest_number = 32;

/// Writes text at `at`. Returns its end, as the functions below do.
char* put(char* at, std::string_view text) {
  return std::copy(text.begin(), text.end(), at);
}

/// Writes a comma and a text.
char* put_field(char* at, std::string_view text) {
  *at++ = ',';
  return put(at, text);
}

/// Writes a comma and the shortest text that reads as the same number.
char* put_field(char* at, double value) {
  *at++ = ',';
  return std::to_chars(at, at + longest_number - 1, value).ptr;
}

}  // namespace

std::map<double, std::string> texts_of_classes(const SavedModel& model, const Loss& loss) {
  if (!loss.classifies() || model.is<OwnForm>()) return {};
  std::map<double, std::vector<std::string>> texts;
  for (const CategoryColumn& table : model.constants.categories) {
    if (table.column != model.constants.label) continue;
    for (const auto& [text, value] : table.values) {
      if (const auto k = class_of_label(model, loss, value)) texts[label_of_class(loss, *k)].push_back(text);
    }
  }
  std::map<double, std::string> only;
  for (const auto& [label, all] : texts) {
    if (all.size() == 1) only.emplace(label, all.front());
  }
  const std::vector<double>& classes = model.constants.class_labels;
  for (std::size_t k = 0; k < classes.size(); ++k)
    only.try_emplace(label_of_class(loss, k), fmt::format("{}", classes[k]));
  return only;
}

PredictionLines::PredictionLines(const SavedModel& model, const Loss& loss, const PredictionColumns& columns,
                                 std::string id)
    : id_(std::move(id)),
      link_(loss.link()),
      classifies_(loss.classifies()),
      names_classes_(classifies_ && model.is<OwnForm>()),
      scores_(loss.scores()),
      columns_(columns) {
  if (const auto* const linear = model.as<LinearForm>();
      linear != nullptr && linear->spread && columns.intervals && !classifies_) {
    has_error_ = linear->spread->method == "plug-in";
    quantile_ = interval_quantile(linear->spread->method, level_of_predictions);
  }
  if (names_classes_) {
    texts_ = texts_of_labels(model);
  } else if (classifies_) {
    classes_ = names_of_classes(model, loss);
  }
  for (std::string& name : classes_) name = csv_text(name);
  std::size_t longest_class = longest_number;
  for (const std::string& name : classes_) longest_class = std::max(longest_class, name.size() + 1);
  for (const auto& [label, name] : texts_) longest_class = std::max(longest_class, name.size() + 1);
  longest_fields_ = (2 * scores_ + 3) * longest_number + longest_class + 1;
}

std::string PredictionLines::header() const {
  std::string line = csv_text(id_);
  if (!classifies_) {
    line += columns_.scores ? ",prediction" : "";
    return line + (has_error_ ? ",standard_error" : "") + (quantile_ ? ",low,high\n" : "\n");
  }
  if (names_classes_) return line + (columns_.classes ? ",class\n" : "\n");
  for (std::size_t k = 0; columns_.scores && k < scores_; ++k) {
    line += scores_ == 1 ? ",score" : fmt::format(",score_{}", classes_[k]);
  }
  if (columns_.probabilities && (link_ == Link::logit || link_ == Link::hazard))
    line += fmt::format(",probability_{}", classes_[1]);
  for (std::size_t k = 0; columns_.probabilities && link_ == Link::softmax && k < scores_; ++k) {
    line += fmt::format(",probability_{}", classes_[k]);
  }
  return line + (columns_.classes ? ",class\n" : "\n");
}

void PredictionLines::add(std::string& text, std::string_view id, View scores, std::optional<double> spread) const {
  const std::size_t before = text.size();
  text.resize(before + id.size() + longest_fields_);
  char* at = put(text.data() + before, id);
  at = names_classes_ ? put_label(at, scores[0]) : put_scores(at, scores, spread);
  if (classifies_ && !names_classes_) at = put_classes(at, scores);
  *at++ = '\n';
  text.resize(static_cast<std::size_t>(at - text.data()));
}

void PredictionLines::add_empty(std::string& text, std::string_view id) const {
  const auto head = csv_rows(header());
  text.append(id).append(head.value().front().size() - 1, ',') += '\n';
}

char* PredictionLines::put_scores(char* at, View scores, std::optional<double> spread) const {
  const auto label = [this](double score) { return link_ == Link::log ? std::exp(score) : score; };
  if (columns_.scores) {
    for (const double score : scores) at = put_field(at, label(score));
  }
  if (has_error_) at = put_field(at, link_ == Link::log ? label(scores[0]) * *spread : *spread);
  if (!quantile_) return at;
  at = put_field(at, label(scores[0] - *quantile_ * *spread));
  return put_field(at, label(scores[0] + *quantile_ * *spread));
}

char* PredictionLines::put_classes(char* at, View scores) const {
  if (columns_.probabilities && link_ == Link::logit) at = put_field(at, logistic(scores[0]));
  if (columns_.probabilities && link_ == Link::hazard) at = put_field(at, event_probability(scores[0]));
  if (columns_.probabilities && link_ == Link::softmax) {
    const double top = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (const double score : scores) total += std::exp(score - top);
    for (const double score : scores) at = put_field(at, std::exp(score - top) / total);
  }
  return columns_.classes ? put_field(at, classes_[class_of(scores)]) : at;
}

char* PredictionLines::put_label(char* at, double label) const {
  if (!columns_.classes) return at;
  const auto found = texts_.find(label);
  return found == texts_.end() ? put_field(at, label) : put_field(at, found->second);
}

std::size_t PredictionLines::class_of(View scores) const {
  if (scores.size() == 1) return scores[0] > 0 ? 1 : 0;
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

}  // namespace starling
