#include "protocol/own_model/row_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "answer.hpp"
#include "core/check.hpp"
#include "core/numerics/kept_arithmetic.hpp"
#include "core/numerics/kernels.hpp"
#include "core/numerics/weighted_sum.hpp"
#include "core/record_error.hpp"
#include "privacy/clip_rows.hpp"

namespace starling {

namespace {

/// Of a model that classifies and says none: the slope at even odds as a part of that at the start, where no class is
/// likelier than others.
constexpr double slope_of_classes = 0.55;

constexpr std::size_t bytes_of_chunk = std::size_t{64} << 20;
// Rows of a block are read twice from a near cache. At least so many are measured side by side.
constexpr std::size_t bytes_of_block = std::size_t{32} << 10;
constexpr std::size_t least_of_block = 4;
constexpr double feature_of_canary = 1000;  // a mean over a batch that has it moves every row
constexpr std::size_t most_parameters = std::size_t{1} << 40;

constexpr double unwritten = std::bit_cast<double>(fence_bits);

/// Adds the rows to `sum` by their factors, in their order, but for those whose factor is 0. With `clear` the rows are
/// unwritten afterwards: this costs little here, where they pass through registers.
template <bool clear>
void add_rows_to(MutableView sum, double* rows, View factors) {
  const std::size_t d = sum.size();
  in_tiles(0, d, [&]<class T, std::size_t n>(std::size_t at) {
    typename T::Number total[n];
    for (std::size_t j = 0; j < n; ++j) total[j] = T::load(sum.data() + at + j * T::lanes);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      double* const x = rows + i * d + at;
      if (factors[i] != 0) {
        for (std::size_t j = 0; j < n; ++j) total[j] += factors[i] * T::load(x + j * T::lanes);
      }
      if constexpr (clear) {
        for (std::size_t j = 0; j < n; ++j) T::store(x + j * T::lanes, typename T::Number{} + unwritten);
      }
    }
    for (std::size_t j = 0; j < n; ++j) T::store(sum.data() + at + j * T::lanes, total[j]);
  });
}

/// Writes the gradient of a canary, longer than the clip.
void write_canary(const Canary& canary, const Clip& clip, MutableView row) {
  constexpr double too_long = 4;
  std::ranges::fill(row, 0.0);
  row[canary.coordinate] = canary.sign * (clip.kind == ClipKind::none ? 1 : too_long * clip.bound);
}

/// Runs f(), whose errors may tell of records.
template <class F>
void ask(const char* what, F f) {
  const KeptArithmetic kept;
  try {
    f();
  } catch (const RecordError&) {
    throw;
  } catch (const std::exception& error) {
    throw RecordError(fmt::format("--model: the own model failed to give {}.", what),
                      fmt::format("--model: the own model failed to give {}: {}", what, error.what()));
  } catch (...) {
    throw RecordError(
        fmt::format("--model: the own model failed to give {}.", what),
        fmt::format("--model: the own model failed to give {}: what it has thrown is no exception.", what));
  }
}

/// Result of `f`, which sees no records: its errors may be shown to everybody. Throws UsageError if `f` throws.
template <class F>
auto ask_before_records(const char* what, F f) {
  const KeptArithmetic kept;
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail<UsageError>("--model: the own model failed to give {}: {}. Look at its code.", what, error.what());
  } catch (...) {
    fail<UsageError>("--model: the own model failed to give {}: what it has thrown is no exception. Look at its code.",
                     what);
  }
}

[[noreturn]] void never() {
  fail<FailureError>("an own model has losses itself{}", "");
}

}  // namespace

OwnLoss::OwnLoss(const OwnModel& own)
    : Loss(learns_numbers(own)
               ? LossTraits{}
               : LossTraits{.classifies = own.classifies(), .unit = 1, .depends_on_label_size = false}) {
  if (!learns_numbers(own)) slope_ = own.slope().value_or(slope_of_classes);
}

double OwnLoss::value(View /*scores*/, double /*label*/) const {
  never();
}
void OwnLoss::derivative(View /*scores*/, double /*label*/, MutableView /*derivative*/) const {
  never();
}
bool OwnLoss::correct(View /*scores*/, double /*label*/) const {
  never();
}

RowModel::RowModel(std::shared_ptr<OwnModel> own, std::size_t features)
    : own_(std::move(own)),
      features_(features),
      dimension_(ask_before_records("its number of parameters", [&] { return own_->dimension(features); })),
      classifies_(own_->classifies() && own_->predicts()) {
  check(dimension_ > 0 && dimension_ <= most_parameters,
        "--model: the own model has {} parameters for {} features: there must be some. See its function `dimension`.",
        dimension_, features);
  at_once_ = std::max<std::size_t>(1, bytes_of_chunk / sizeof(double) / std::max(dimension_, features));
}

std::optional<Vector> RowModel::initial(std::uint64_t seed) const {
  std::optional<Vector> start = ask_before_records("its start", [&] { return own_->start(seed, dimension_); });
  if (!start) return Vector(dimension_, 0.0);
  check(start->size() == dimension_, "--model: the own model starts with {} numbers and has {} parameters",
        start->size(), dimension_);
  check(std::ranges::all_of(*start, [this](double x) { return std::abs(x) <= largest_parameter(); }),
        "--model: the own model starts with numbers that are not finite or beyond {:.3g}: no step leads back. See its "
        "function `start`.",
        largest_parameter());
  return start;
}

template <class F>
void RowModel::in_chunks(const Batch& batch, F f) {
  for (std::size_t first = 0; first < batch.size(); first += at_once_) {
    f(table_of(batch, first, std::min(at_once_, batch.size() - first)));
  }
}

RecordTable RowModel::table_of(const Batch& batch, std::size_t first, std::size_t count) {
  RecordTable table{count, features_, nullptr, features_, batch.labels().data() + first};
  if (!batch.sparse()) {
    table.x = batch.values_from(first);
    return table;
  }
  x_.assign(count * features_, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const Row row = batch.row(first + i);
    for (std::size_t k = 0; k < row.index.size(); ++k) {
      x_[i * features_ + static_cast<std::size_t>(row.index[k])] = row.values[k];
    }
  }
  table.x = x_.data();
  return table;
}

void RowModel::ask_gradients(View parameters, const RecordTable& records) {
  const MutableView losses = fenced(losses_, records.rows);
  const MutableView rows = own_->keeps_rows() ? MutableView() : room_for_rows(records.rows * dimension_);
  const MutableView predictions = fenced(predictions_, classifies_ ? records.rows : 0);
  bool predicted = false;
  ask("losses and gradients", [&] { predicted = own_->gradients(parameters, records, losses, rows, predictions); });
  require_fence(losses_, "losses");
  if (!rows.empty()) require_fence(rows_, "gradients");
  require_fence(predictions_, "predictions");
  if (classifies_ && !predicted) ask_predictions(parameters, records);
}

void RowModel::ask_losses(View parameters, const RecordTable& records) {
  const MutableView losses = fenced(losses_, records.rows);
  bool known = false;
  ask("losses", [&] { known = own_->losses(parameters, records, losses); });
  if (!known) return ask_gradients(parameters, records);
  require_fence(losses_, "losses");
  if (classifies_) ask_predictions(parameters, records);
}

void RowModel::ask_predictions(View parameters, const RecordTable& records) {
  const MutableView predictions = fenced(predictions_, records.rows);
  ask("predictions", [&] { own_->predict(parameters, records, predictions); });
  require_fence(predictions_, "predictions");
}

Score RowModel::score_of(const RecordTable& records, std::size_t i) const {
  return score_of_record(losses_[i], classifies_ && predictions_[i] == records.y[i]);
}

Score RowModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  gradient.assign(dimension_, 0.0);
  Score total;
  in_chunks(batch, [&](const RecordTable& records) {
    ask_gradients(parameters, records);
    add_rows(records, clip, gradient, total);
  });
  return total;
}

void RowModel::add_rows(const RecordTable& records, const Clip& clip, MutableView gradient, Score& total) {
  const std::size_t at_once = std::max(least_of_block, bytes_of_block / sizeof(double) / dimension_);
  for (std::size_t first = 0; first < records.rows; first += at_once) {
    const std::size_t count = std::min(at_once, records.rows - first);
    const MutableView rows = block_of(first, count);
    const std::optional<Canary> canary = std::exchange(canary_, std::nullopt);
    if (canary) write_canary(*canary, clip, rows.first(dimension_));
    factors_.resize(count);
    find_factors(rows, clip, factors_);
    for (std::size_t i = canary ? 1 : 0; i < count; ++i) {
      const Score own = score_of(records, first + i);
      if (own.records != 1) factors_[i] = 0;
      total += factors_[i] > 0 ? own : Score{0, 0, 0, 1};
    }
    if (own_->keeps_rows()) {
      add_rows_to<false>(gradient, rows.data(), factors_);
    } else {
      add_rows_to<true>(gradient, rows.data(), factors_);
    }
  }
  if (!own_->keeps_rows()) cleared_ = records.rows * dimension_;
}

MutableView RowModel::room_for_rows(std::size_t size) {
  if (cleared_ != size) fenced(rows_, size);
  cleared_ = 0;
  return MutableView(rows_).first(size);
}

MutableView RowModel::block_of(std::size_t first, std::size_t count) {
  if (!own_->keeps_rows()) return MutableView(rows_).subspan(first * dimension_, count * dimension_);
  const View kept = own_->kept_rows().subspan(first * dimension_, count * dimension_);
  rows_.assign(kept.begin(), kept.end());
  return rows_;
}

void RowModel::find_factors(MutableView rows, const Clip& clip, MutableView factors) const {
  if (clip.kind != ClipKind::component) return clip_factors(rows, dimension_, clip, factors);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] = clip_rows(rows.subspan(i * dimension_, dimension_), dimension_, clip) == 0 ? 1 : 0;
  }
}

Score RowModel::evaluate_with_canary(View parameters, const Canary& canary, const Batch& others, const Clip& clip,
                                     Vector& gradient) {
  Batch batch;
  Vector x(features_, 0.0);
  if (!x.empty()) x.front() = feature_of_canary * canary.sign;
  const std::int32_t first = 0;
  batch.add(others.sparse() ? Row{View(x).first(std::min<std::size_t>(1, x.size())), {&first, x.empty() ? 0U : 1U}}
                            : Row{x, {}},
            1);
  for (std::size_t i = 0; i < others.size(); ++i) batch.add(others.row(i), others.label(i));
  canary_ = canary;
  return evaluate(parameters, batch, clip, gradient);
}

Score RowModel::score(View parameters, const Batch& batch) {
  Score total;
  in_chunks(batch, [&](const RecordTable& records) {
    ask_losses(parameters, records);
    for (std::size_t i = 0; i < records.rows; ++i) total += score_of(records, i);
  });
  return total;
}

void RowModel::predict(View parameters, const Batch& batch, Vector& predictions) {
  check(own_->predicts(),
        "--model: the own model predicts nothing. Write its function for predictions (`scores` of a plug-in, `predict` "
        "of others).");
  predictions.clear();
  in_chunks(batch, [&](RecordTable records) {
    const Vector no_labels(records.rows, 0.0);
    records.y = no_labels.data();
    ask_predictions(parameters, records);
    predictions.insert(predictions.end(), predictions_.begin(),
                       predictions_.begin() + static_cast<std::ptrdiff_t>(records.rows));
  });
}

}  // namespace starling
