#include "protocol/own_model/row_check.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "protocol/own_model/row_model.hpp"

namespace starling {

namespace {

constexpr std::size_t kinds = 5;
constexpr double labels[kinds] = {1, 0, -1, 2, 5};
constexpr std::size_t bytes_of_rows = std::size_t{64} << 20;
constexpr double tolerance = 1e-4;  ///< of singles, which networks may compute in
constexpr std::uint64_t no_client = std::uint64_t{1} << 40;
constexpr double beside = 0.1;  ///< deviation of the second point from the first

/// Feature of a record of that kind.
double feature(std::size_t kind, AddressedRandom& random) {
  if (kind == 2) return random.uniform() < 0.5 ? 0 : 1;
  if (kind == 3) return random.uniform();
  if (kind == 4) return random.normal();
  return kind == 0 ? 0 : 1;
}

/// What a model says of a record; nothing where it fails.
struct Said {
  bool failed = true;
  double loss = 0;
  Vector gradient;
};

bool is_finite(View numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

/// Whether the two are further apart than roundings of numbers up to `largest` explain. All that is not finite is
/// alike.
bool differ(View a, View b, double largest) {
  if (!is_finite(a) || !is_finite(b)) return is_finite(a) != is_finite(b);
  Vector difference(a.begin(), a.end());
  axpy(-1, b, difference);
  return norm2(difference) > tolerance * largest;
}

double larger(double so_far, View numbers) {
  return is_finite(numbers) ? std::max(so_far, norm2(numbers)) : so_far;
}

class RowCheck {
 public:
  RowCheck(OwnModel& own, Vector start, std::size_t features, std::uint64_t seed)
      : own_(own), features_(features), random_(seed, Purpose::test_data, no_client, 0), point_(std::move(start)) {
    const std::size_t room =
        bytes_of_rows / sizeof(double) / std::max<std::size_t>(1, std::max(features, point_.size()));
    const std::size_t records = std::clamp(room, kinds, kinds * kinds);
    for (std::size_t i = 0; i < records; ++i) {
      y_.push_back(labels[(i / kinds + i) % kinds]);
      for (std::size_t j = 0; j < features; ++j) x_.push_back(feature(i % kinds, random_));
    }
    order_.resize(records);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  void run() {
    look_at_point();
    for (double& entry : point_) entry += beside * random_.normal();
    look_at_point();
  }

 private:
  void look_at_point() {
    said_.assign(y_.size(), {});
    for (const std::size_t i : order_) said_[i] = alone(i);
    require_any();
    std::ranges::reverse(order_);
    require_same_alone("when it is asked again");
    std::ranges::reverse(order_);
    require_same_together("among other records");
    shuffle();
    require_same_together("where the records have another order");
    require_same_alone("when it is asked again");
  }

  void shuffle() {
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
  }

  /// The model's failure on these records, whose answer is in answer_. Throws UsageError if it writes into them.
  std::optional<std::string> ask(const std::vector<std::size_t>& records) {
    asked_x_.clear();
    asked_y_.clear();
    for (const std::size_t i : records) {
      const View x = View(x_).subspan(i * features_, features_);
      asked_x_.insert(asked_x_.end(), x.begin(), x.end());
      asked_y_.push_back(y_[i]);
    }
    const Vector point = point_;
    const Vector x = asked_x_;
    const Vector y = asked_y_;
    const RecordTable table{records.size(), features_, x.data(), features_, y.data()};
    const auto failure = failure_of([&] { answer_.ask(own_, point, table, own_.classifies() && own_.predicts()); });
    check(point == point_ && x == asked_x_ && y == asked_y_,
          "--model: the own model writes into the records or the parameters that it is given: its next gradients would "
          "depend on that. Let it write into its results alone.{}",
          "");
    return failure;
  }

  Said said_in_answer(std::size_t place) const {
    const View gradient = answer_.rows().subspan(place * point_.size(), point_.size());
    return {false, answer_.losses()[place], Vector(gradient.begin(), gradient.end())};
  }

  Said alone(std::size_t i) {
    if (!ask({i})) return said_in_answer(0);
    own_.excuse();
    return {};
  }

  /// Throws UsageError if the model fails on each record.
  void require_any() {
    if (!std::ranges::all_of(said_, &Said::failed)) return;
    const std::optional<std::string> why = ask({order_.front()});  // and its error is not excused
    fail<UsageError>(
        "--model: the own model fails on each of {} public random records: {}. Correct its code. Of a record that it "
        "does not take it may give a loss that is not finite: such a record counts as zero.",
        said_.size(), why.value_or("(it did)"));
  }

  [[noreturn]] static void refuse(const char* when) {
    fail<UsageError>(
        "--model: the own model gives another loss or gradient of a record {}: tried on public random records. Under "
        "noise both must depend on the parameters and this record alone, or the figures of privacy do not hold. Take "
        "means over a batch, memory of earlier calls and random numbers out of its code.",
        when);
  }

  void require_same_alone(const char* when) {
    for (const std::size_t i : order_) require_same({i}, {alone(i)}, when);
  }

  void require_same_together(const char* when) {
    std::vector<std::size_t> good;
    std::ranges::copy_if(order_, std::back_inserter(good), [&](std::size_t i) { return !said_[i].failed; });
    const std::optional<std::string> why = ask(good);
    check(!why,
          "--model: the own model fails on public random records together that it takes one by one: {}. Correct "
          "its code.",
          why.value_or(""));
    std::vector<Said> again;
    for (std::size_t place = 0; place < good.size(); ++place) again.push_back(said_in_answer(place));
    require_same(good, again, when);
  }

  void require_same(const std::vector<std::size_t>& records, const std::vector<Said>& again, const char* when) const {
    double loss = 0;
    double gradient = 0;
    for (const Said& each : said_) {
      loss = larger(loss, View(&each.loss, 1));
      gradient = larger(gradient, each.gradient);
    }
    for (std::size_t k = 0; k < records.size(); ++k) {
      const Said& first = said_[records[k]];
      if (first.failed != again[k].failed) refuse(when);
      if (differ(View(&first.loss, 1), View(&again[k].loss, 1), loss)) refuse(when);
      if (differ(first.gradient, again[k].gradient, gradient)) refuse(when);
    }
  }

  OwnModel& own_;
  std::size_t features_;
  AddressedRandom random_;
  Vector point_;
  Vector x_;
  Vector y_;
  Vector asked_x_;
  Vector asked_y_;
  std::vector<std::size_t> order_;
  std::vector<Said> said_;
  Answer answer_;
};

}  // namespace

void require_independent_rows(const std::shared_ptr<OwnModel>& own, std::size_t features, std::uint64_t seed) {
  Vector start = RowModel(own, features).initial(seed).value();
  RowCheck(*own, std::move(start), features, seed).run();
}

}  // namespace starling
