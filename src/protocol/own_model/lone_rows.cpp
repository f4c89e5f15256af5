#include "protocol/own_model/lone_rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "answer.hpp"
#include "core/check.hpp"

namespace starling {

namespace {

constexpr int most_noted = 1000;
constexpr std::size_t most_features_told = 8;
constexpr double absent = std::numeric_limits<double>::quiet_NaN();

}  // namespace

LoneRows::LoneRows(std::shared_ptr<OwnModel> own, Note note)
    : own_(std::move(own)), note_(std::move(note)), answer_(std::make_unique<Answer>()) {}

LoneRows::~LoneRows() = default;

RecordTable LoneRows::copy_of(const RecordTable& records, std::size_t first, std::size_t count, View point) {
  point_.assign(point.begin(), point.end());
  labels_.assign(records.y + first, records.y + first + count);
  features_.clear();
  for (std::size_t i = first; i < first + count; ++i) {
    const double* row = records.x + i * records.stride;
    features_.insert(features_.end(), row, row + records.features);
  }
  return {count, records.features, features_.data(), records.features, labels_.data()};
}

bool LoneRows::gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                         MutableView predictions) {
  for (std::size_t i = 0; i < records.rows; ++i) {
    const RecordTable record = copy_of(records, i, 1, point);
    const std::optional<std::string> failure =
        failure_of([&] { answer_->ask(*own_, point_, record, !predictions.empty()); });
    if (failure) {
      own_->excuse();
      losses[i] = absent;
      tell_owner(records, i, *failure);
      continue;
    }
    losses[i] = answer_->losses().front();
    std::ranges::copy(answer_->rows(), gradients.subspan(i * point.size()).begin());
    if (!predictions.empty()) predictions[i] = answer_->predictions().front();
  }
  return true;
}

template <class F>
void LoneRows::together_or_alone(View point, const RecordTable& records, MutableView numbers, F f) {
  const auto succeeds = [&](std::size_t first, std::size_t count) {
    const auto failure = failure_of([&] {
      f(copy_of(records, first, count, point), fenced(numbers_, count));
      require_fence(numbers_, "losses or predictions");
      std::ranges::copy(MutableView(numbers_).first(count), numbers.subspan(first).begin());
    });
    if (failure) own_->excuse();
    return !failure;
  };
  if (succeeds(0, records.rows)) return;
  for (std::size_t i = 0; i < records.rows; ++i) {
    if (!succeeds(i, 1)) numbers[i] = absent;
  }
}

bool LoneRows::losses(View point, const RecordTable& records, MutableView losses) {
  together_or_alone(point, records, losses, [&](const RecordTable& asked, MutableView numbers) {
    if (own_->losses(point_, asked, numbers)) return;
    answer_->ask(*own_, point_, asked, false);
    std::ranges::copy(answer_->losses(), numbers.begin());
  });
  return true;
}

void LoneRows::predict(View point, const RecordTable& records, MutableView predictions) {
  together_or_alone(point, records, predictions,
                    [&](const RecordTable& asked, MutableView numbers) { own_->predict(point_, asked, numbers); });
}

void LoneRows::tell_owner(const RecordTable& records, std::size_t i, const std::string& why) {
  if (noted_ == most_noted) return;
  const double* x = records.x + i * records.stride;
  const std::size_t told = std::min(records.features, most_features_told);
  note_(Secret<std::string>(
      one_line(fmt::format("--model: a record counts as zero, since the own model fails on it: {} (label {}, features "
                           "{}{})",
                           why, records.y[i], fmt::join(x, x + told, ", "), told < records.features ? ", …" : ""))));
  if (++noted_ == most_noted) note_(Secret<std::string>("--model: later failures are not listed."));
}

}  // namespace starling
