#include "personal/personal_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "mirror/mirror.hpp"
#include "optimise/minimise.hpp"

namespace starling {

namespace {

constexpr std::size_t folds = 5;
/// Records that choose; all records of a client with more make its model.
constexpr std::size_t most_to_choose = 20'000;
/// λ, from the strongest on: each search starts where the one before ended.
constexpr std::array<double, 7> strengths{10, 1, 0.1, 1e-2, 1e-3, 1e-4, 1e-5};
/// Gradient steps after which a model along the way is a candidate.
constexpr std::array<double, 7> stops{1, 2, 4, 8, 16, 32, 64};
/// It shortens no gradient that matters, and has models leave out those that are too long.
constexpr Clip no_clip{ClipKind::l2, 1e12};
/// Larger features are of records that no model has in range.
constexpr double largest_feature = 1e100;

struct Candidate {
  PersonalCentre centre = PersonalCentre::joint;
  double strength = 0;
  Vector parameters;
};

/// Units of a batch: persons, or records where it does not consist of persons.
void add_unit(const Batch& from, std::size_t unit, Batch& to) {
  Batch::Range range{unit, 1};
  if (from.by_person()) {
    range = from.person(unit);
    to.begin_person();
  }
  for (std::size_t i = range.first; i < range.first + range.count; ++i) to.add(from.row(i), from.label(i));
}

Batch units_of(const Batch& from, const std::vector<std::size_t>& units) {
  Batch some;
  some.clear();
  for (const std::size_t unit : units) add_unit(from, unit, some);
  return some;
}

/// All units in an order of this use.
std::vector<std::size_t> shuffled_units(const Batch& records, const PersonalTerms& terms, std::uint64_t use) {
  std::vector<std::size_t> order(records.units());
  std::iota(order.begin(), order.end(), std::size_t{0});
  AddressedRandom bits(terms.seed, Purpose::experiment, terms.client, use);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[bits.below(i)]);
  return order;
}

class Fitter {
 public:
  Fitter(Model& model, const PersonalTerms& terms) : model_(model), terms_(terms), everywhere_(free_domain()) {}

  /// A candidate of each centre and strength: the joint model first, then those that come from it.
  [[nodiscard]] std::vector<Candidate> candidates(const Batch& records) {
    scale_ = scale_of(records);
    const Vector common(terms_.common.begin(), terms_.common.end());
    std::vector<Candidate> all{{PersonalCentre::joint, 0, common}};
    centre_ = common;
    ignored_ = model_.evaluate(common, records, no_clip, sum_).out_of_range;
    if (terms_.convex) {
      if (terms_.linear && terms_.intercept) all.push_back(shifted(records));
      all.push_back(scaled(records));
      centre_ = all.back().parameters;
    }
    const Vector ignorant = terms_.ignorant.empty() ? Vector(common.size(), 0.0) : terms_.ignorant;
    for (const auto& [centre, start] :
         {std::pair{PersonalCentre::around, centre_}, std::pair{PersonalCentre::alone, ignorant}}) {
      if (terms_.convex) {
        add_minima(records, centre, start, all);
      } else {
        add_stops(records, centre, start, all);
      }
    }
    return all;
  }
  [[nodiscard]] Score score(View parameters, const Batch& records) { return model_.score(parameters, records); }

 private:
  static std::unique_ptr<Domain> free_domain() { return domain_table().make("free"); }

  /// a x̄ with the a of least loss.
  [[nodiscard]] Candidate scaled(const Batch& records) { return mended(PersonalCentre::scaled, records, {}); }

  /// a x̄ with intercepts of the client's own: most of what tells clients with other shares of classes apart.
  [[nodiscard]] Candidate shifted(const Batch& records) {
    const std::size_t stride = centre_.size() / terms_.scores;
    std::vector<std::size_t> intercepts;
    for (std::size_t k = 1; k <= terms_.scores; ++k) intercepts.push_back(k * stride - 1);
    return mended(PersonalCentre::shifted, records, intercepts);
  }

  /// a x̄ with numbers added at `places`. They are held to a = 1 and 0 as by one record: few records may have one class,
  /// or none that x̄ takes for another.
  [[nodiscard]] Candidate mended(PersonalCentre name, const Batch& records, const std::vector<std::size_t>& places) {
    const auto model_at = [&](View z) {
      Vector x = centre_;
      starling::scale(z[0], x);
      for (std::size_t k = 0; k < places.size(); ++k) x[places[k]] += z[k + 1];
      return x;
    };
    Vector anchor(1 + places.size(), 0.0);
    anchor[0] = 1;
    const double hold = 1 / static_cast<double>(records.size());
    Vector gradient(centre_.size());
    const ConvexFunction along = [&](View z, MutableView slope) {
      double value = mean_loss(model_at(z), records, gradient);
      for (std::size_t k = 0; k < z.size(); ++k) {
        const double pull = hold * (z[k] - anchor[k]);
        slope[k] = (k == 0 ? dot(gradient, centre_) : gradient[places[k - 1]]) + pull;
        value += pull * (z[k] - anchor[k]) / 2;
      }
      return value;
    };
    MinimiseSettings settings;
    settings.gradient_norm = 1e-4;
    settings.evaluations = 60;
    settings.kinks = MinimiseSettings::Kinks::none;
    settings.start = anchor;
    const Vector found = minimise(along, *everywhere_, anchor.size(), settings).x;
    if (!std::ranges::all_of(found, [](double x) { return std::isfinite(x); })) return {name, 1, centre_};
    return {name, found[0], model_at(found)};
  }

  /// D. Intercepts have features of 1.
  [[nodiscard]] Vector scale_of(const Batch& records) const {
    Vector scale(terms_.common.size(), 1.0);
    const std::size_t stride = terms_.linear ? scale.size() / terms_.scores : 0;
    const std::size_t features = stride - (terms_.intercept ? 1 : 0);
    if (!terms_.linear || records.empty()) return scale;
    Vector squares(features, 0.0);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Row row = records.row(i);
      for (std::size_t k = 0; k < row.values.size(); ++k) {
        const double square = row.values[k] * row.values[k];
        if (std::abs(row.values[k]) < largest_feature) squares[row.feature(k)] += square;
      }
    }
    starling::scale(1 / static_cast<double>(records.size()), squares);
    for (std::size_t k = 0; k < terms_.scores; ++k) {
      for (std::size_t j = 0; j < features; ++j) {
        if (squares[j] > 0 && std::isfinite(squares[j])) scale[k * stride + j] = squares[j];
      }
    }
    return scale;
  }

  /// Value of the mean loss, and its gradient. Records that are out of range under the common model count for nothing.
  [[nodiscard]] double mean_loss(View x, const Batch& records, MutableView gradient) {
    const Score score = model_.evaluate(x, records, no_clip, sum_);
    const auto n = static_cast<double>(records.size());
    for (std::size_t j = 0; j < gradient.size(); ++j) gradient[j] = sum_[j] / n;
    return score.out_of_range > ignored_ ? std::numeric_limits<double>::infinity() : score.loss / n;
  }

  /// Searches go over z = √D x, in which all features are of one size.
  void add_minima(const Batch& records, PersonalCentre centre, const Vector& start, std::vector<Candidate>& all) {
    Vector root(start.size());
    for (std::size_t j = 0; j < root.size(); ++j) root[j] = std::sqrt(scale_[j]);
    const auto model_at = [&](View z) {
      Vector x(z.size());
      for (std::size_t j = 0; j < z.size(); ++j) x[j] = z[j] / root[j];
      return x;
    };
    Vector anchor(start.size());
    for (std::size_t j = 0; j < anchor.size(); ++j) anchor[j] = start[j] * root[j];
    MinimiseSettings settings;
    settings.gradient_norm = 3e-4;  // of a mean loss, whose gradient is about 0.1 at first: records tell less
    settings.evaluations = 100;
    settings.kinks = MinimiseSettings::Kinks::none;
    settings.start = anchor;
    for (const double strength : strengths) {
      const ConvexFunction objective = [&](View z, MutableView gradient) {
        double value = mean_loss(model_at(z), records, gradient);
        for (std::size_t j = 0; j < z.size(); ++j) {
          const double pull = strength * (z[j] - anchor[j]);
          gradient[j] = gradient[j] / root[j] + pull;
          value += pull * (z[j] - anchor[j]) / 2;
        }
        return value;
      };
      settings.start = minimise(objective, *everywhere_, start.size(), settings).x;
      all.push_back({centre, strength, model_at(settings.start)});
    }
  }

  /// Gradient steps whose length doubles while the loss falls, and is halved until it does.
  void add_stops(const Batch& records, PersonalCentre centre, const Vector& start, std::vector<Candidate>& all) {
    Vector x = start;
    Vector gradient(x.size());
    double value = mean_loss(x, records, gradient);
    double length = 1 / std::max(norm2(gradient), 1e-12);
    std::size_t stop = 0;
    for (int step = 1; stop < stops.size(); ++step) {
      std::optional<Vector> next;
      Vector slope = gradient;
      for (int tries = 0; tries < 30 && !next; ++tries, length /= 2) {
        Vector tried = x;
        axpy(-length, slope, tried);
        const double reached = mean_loss(tried, records, gradient);
        if (!(reached < value)) continue;
        value = reached;
        next = std::move(tried);
      }
      if (next) {
        x = std::move(*next);
        length *= 4;
      } else {
        gradient = slope;
      }
      if (step < stops[stop]) continue;
      all.push_back({centre, stops[stop], x});
      ++stop;
    }
  }

  Model& model_;
  const PersonalTerms& terms_;
  std::unique_ptr<Domain> everywhere_;
  Vector scale_;
  Vector centre_;             ///< a x̄
  std::int64_t ignored_ = 0;  ///< records out of range
  Vector sum_;
};

/// The loss of each candidate in cross-validation, summed over units: a person counts by the mean of its records.
Vector validated_losses(Fitter& fitter, const Batch& records, const std::vector<std::size_t>& order) {
  Vector losses;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<std::size_t> in;
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < order.size(); ++i) (i % folds == fold ? out : in).push_back(order[i]);
    const Batch validation = units_of(records, out);
    const double units_per_record = static_cast<double>(out.size()) / static_cast<double>(validation.size());
    const std::vector<Candidate> candidates = fitter.candidates(units_of(records, in));
    losses.resize(candidates.size());
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      losses[c] += fitter.score(candidates[c].parameters, validation).loss * units_per_record;
    }
  }
  return losses;
}

/// Prior weights π of the candidates, up to a common factor: those that are alone and the others share them by the odds
/// of joining, each kind of the others has a third of its part, and candidates of one kind share evenly. Where it is
/// known what to expect of joining, clients that are like the others are expected too, and kinds between have less.
Vector beliefs_before(const std::vector<Candidate>& candidates, double joining) {
  const auto kind_of = [](PersonalCentre centre) {
    return centre == PersonalCentre::joint ? PersonalCentre::scaled : centre;
  };
  Vector beliefs;
  for (const Candidate& each : candidates) {
    const auto alike = std::ranges::count_if(
        candidates, [&](const Candidate& other) { return kind_of(other.centre) == kind_of(each.centre); });
    const double of_kind = each.centre == PersonalCentre::alone             ? 3 * std::exp(-joining)
                           : kind_of(each.centre) == PersonalCentre::scaled ? 1
                                                                            : std::exp(-std::abs(joining) / 2);
    beliefs.push_back(of_kind / static_cast<double>(alike));
  }
  return beliefs;
}

/// π_c exp(−½ Σ_i losses of c), summing to 1; all of it is the first one's if no loss is finite.
Vector weights_of(const std::vector<Candidate>& candidates, const Vector& losses, double joining) {
  const double least = *std::ranges::min_element(losses);
  Vector weights = beliefs_before(candidates, joining);
  double whole = 0;
  for (std::size_t c = 0; c < weights.size(); ++c) {
    weights[c] *= std::isfinite(losses[c]) ? std::exp((least - losses[c]) / 2) : 0;
    whole += weights[c];
  }
  if (!(whole > 0)) {
    weights.assign(weights.size(), 0.0);
    weights[0] = whole = 1;
  }
  scale(1 / whole, weights);
  return weights;
}

/// The candidate of most weight. Where the loss is convex its parameters are the weighted mean of all.
Candidate weighed(const std::vector<Candidate>& candidates, const Vector& weights, bool convex) {
  Candidate result = candidates[static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin())];
  if (!convex) return result;
  result.parameters.assign(result.parameters.size(), 0.0);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (weights[c] > 0) axpy(weights[c], candidates[c].parameters, result.parameters);
  }
  return result;
}

struct Choice {
  Candidate personal;
  Candidate alone;
};

/// The personal model of these records, and the best of the candidates that are alone, all fitted to all records.
Choice chosen(Model& model, const Batch& records, const PersonalTerms& terms) {
  Fitter fitter(model, terms);
  std::vector<std::size_t> order = shuffled_units(records, terms, 0);
  order.resize(std::min(order.size(), most_to_choose));
  const Vector losses = validated_losses(fitter, records, order);
  const std::vector<Candidate> fitted = fitter.candidates(records);
  std::size_t alone = fitted.size() - 1;
  for (std::size_t c = alone; fitted[c].centre == PersonalCentre::alone; --c) {
    if (losses[c] <= losses[alone]) alone = c;
  }
  return {weighed(fitted, weights_of(fitted, losses, terms.joining), terms.convex), fitted[alone]};
}

/// Scores on a fifth of the records of what the others choose.
PersonalScores held_out_scores(Model& model, const Batch& records, const PersonalTerms& terms) {
  const std::vector<std::size_t> order = shuffled_units(records, terms, 1);
  const auto out = static_cast<std::ptrdiff_t>(std::max<std::size_t>(order.size() / folds, 1));
  const Batch held_out = units_of(records, {order.begin(), order.begin() + out});
  const Choice choice = chosen(model, units_of(records, {order.begin() + out, order.end()}), terms);
  return {model.score(choice.alone.parameters, held_out), model.score(terms.common, held_out),
          model.score(choice.personal.parameters, held_out)};
}

}  // namespace

const char* name_of(PersonalCentre centre) {
  switch (centre) {
    case PersonalCentre::joint:
      return "joint";
    case PersonalCentre::scaled:
      return "joint, scaled";
    case PersonalCentre::shifted:
      return "joint, scaled and shifted";
    case PersonalCentre::around:
      return "around the joint model";
    case PersonalCentre::alone:
      break;
  }
  return "alone";
}

PersonalModel fit_personal(Model& model, const Batch& records, const PersonalTerms& terms) {
  PersonalModel personal;
  personal.parameters.assign(terms.common.begin(), terms.common.end());
  if (records.units() < least_personal_records) return personal;
  personal.held_out = held_out_scores(model, records, terms);
  Candidate choice = chosen(model, records, terms).personal;
  personal.parameters = std::move(choice.parameters);
  personal.centre = choice.centre;
  personal.strength = choice.strength;
  return personal;
}

}  // namespace starling
