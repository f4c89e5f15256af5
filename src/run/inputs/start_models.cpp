#include "start_models.hpp"

#include <algorithm>
#include <cmath>

#include "core/digest.hpp"
#include "core/numerics/kernels.hpp"
#include "core/text/spec.hpp"
#include "files/number_rows.hpp"
#include "output/model_file/saved_model.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

namespace {

constexpr double tolerance = 1e-9;
constexpr double tolerance_of_shares = 0.01;

/// The model of a file, for each of so many clients.
std::vector<Vector> model_for_all(const std::string& path, std::size_t dimension, Client clients) {
  Vector parameters = read_model(path).parameters;
  check(dimension == 0 || parameters.size() == dimension,
        "--start {}: {} parameters, where this run's model has {}. Take the features, --model and --intercept of that "
        "run.",
        path, parameters.size(), dimension);
  return std::vector<Vector>(static_cast<std::size_t>(clients), std::move(parameters));
}

}  // namespace

bool is_start_at_constant(const std::string& where) {
  return where.starts_with(start_at_classes) || where.starts_with(start_at_mean);
}

bool is_start_word(const std::string& where) {
  return where == "uniform" || where == "zero" || where == "safe" || is_start_at_constant(where);
}

bool is_model_file(const std::string& where) {
  return where.ends_with(".h5");
}

namespace {

/// The scores that answer the classes with these shares.
Vector scores_at_classes(const std::string& where, const Loss* loss) {
  check(loss != nullptr && gives_probabilities(loss->link()),
        "--start {}: the loss gives no probabilities of classes. Take uniform or zero.", where);
  Vector shares;
  for (const std::string_view each :
       split_at(std::string_view(where).substr(std::string_view(start_at_classes).size()), ",")) {
    shares.push_back(parse_number(each, "--start"));
  }
  const std::size_t classes = classes_of(*loss);
  check(shares.size() == classes, "--start {}: {} shares, where the loss has {} classes.", where, shares.size(),
        classes);
  const bool positive = std::ranges::all_of(shares, [](double each) { return each > 0; });
  check(positive && std::abs(sum(shares) - 1) <= tolerance_of_shares,
        "--start {}: shares of classes are positive numbers whose sum is 1.", where);
  return scores_of(loss->link(), shares);
}

/// The score that answers this mean.
Vector score_at_mean(const std::string& where, const Loss* loss) {
  check(loss != nullptr && loss->link() == Link::log,
        "--start {}: scores are no logarithms of means. Take uniform or zero, or --loss poisson or gamma.", where);
  const double mean = parse_number(std::string_view(where).substr(std::string_view(start_at_mean).size()), "--start");
  check(mean > 0, "--start {}: a mean of counts or amounts is above 0. Give another.", where);
  return {std::log(mean)};
}

}  // namespace

std::optional<Vector> own_start(const std::string& where, const Model& model, const Loss* loss, std::uint64_t seed) {
  if (!is_start_at_constant(where)) return where == "uniform" ? model.initial(seed) : std::nullopt;
  const std::optional<Vector> start =
      model.constant(where.starts_with(start_at_mean) ? score_at_mean(where, loss) : scores_at_classes(where, loss));
  check(start.has_value(), "--start {}: the model has no intercept that could answer a constant. Add --intercept.",
        where);
  return start;
}

StartModels start_models(const std::string& where, Domain& domain, std::size_t dimension, Client clients, Client first,
                         Client count, const std::optional<Vector>& own) {
  std::vector<std::string> notes;
  const auto columns = static_cast<std::size_t>(count);
  if (is_start_word(where)) {
    Columns models(dimension, columns);
    for (std::size_t k = 0; k < columns; ++k) {
      if (own) {
        models.set(k, *own);
        check(domain.violation(models[k]) <= tolerance,
              "--start {}: the model's own start is outside the domain. Use --domain free or a larger one, or give "
              "--start FILE.",
              where);
        continue;
      }
      check(!is_start_at_constant(where), "--start {}: this command has no such start. Take zero.", where);
      if (where == "uniform") domain.centre(models[k]);
      check(domain.violation(models[k]) <= tolerance, "--start zero is outside the domain. Use --start uniform.");
    }
    return {declare_public(std::move(models)), notes};
  }
  const std::vector<Vector> rows =
      is_model_file(where)
          ? model_for_all(where, dimension, clients)
          : read_number_rows(where, fmt::format("--start '{}' (a file, as it is no word known)", where));
  check(rows.size() == static_cast<std::size_t>(clients), "--start '{}' has {} rows: one per client is needed: {}.",
        where, rows.size(), clients);
  check(dimension == 0 || rows.front().size() == dimension, "--start '{}' has {} numbers a row: the model has {}.",
        where, rows.front().size(), dimension);
  Columns models(rows.front().size(), columns);
  for (Client u = 0; u < clients; ++u) {
    const Vector& row = rows[static_cast<std::size_t>(u)];
    if (const double outside = domain.violation(row); outside > tolerance) {
      notes.push_back(
          fmt::format("the start of client {} is outside the domain by {:.3g}; the mirror map brings it in, with the "
                      "first step at the latest",
                      u, outside));
    }
    if (u < first || u >= first + count) continue;
    models.set(static_cast<std::size_t>(u - first), row);
  }
  return {declare_public(std::move(models)), notes};
}

std::string own_start_digest(const Model& model, std::uint64_t seed) {
  const Vector start = model.initial(seed).value_or(Vector());
  return sha256({reinterpret_cast<const char*>(start.data()), start.size() * sizeof(double)});
}

Released<Vector> start_of_all(const LearningConfig& config, std::size_t dimension, const std::optional<Vector>& own) {
  const std::unique_ptr<Domain> everywhere = domain_table().make("free");
  const StartModels rows = start_models(config.start, *everywhere, dimension, 1, 0, 1, own);
  return post_process([](const Columns& models) { return Vector(models[0].begin(), models[0].end()); }, rows.models);
}

}  // namespace starling
