#include "protocol/aggregated/newton.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/check.hpp"
#include "core/numerics/distributions.hpp"
#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"
#include "core/numerics/logistic.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"

namespace starling {

namespace {

/// Numbers before the sums in a client's message: 1, its records, and the variances of the noise on a component of its
/// mean direction and on one of its second part, in the scale of the release.
enum Head : std::size_t { taking_part, with_records, of_direction, of_second, head };

/// Longest step, in deviations of a feature for each root of the number of parameters. It is met where noise has
/// hidden curvature, or classes are separable.
constexpr double longest_newton_step = 3;
constexpr double largest_parameter_of_rounds = 1e150;  ///< as in ldp_sgd.cpp

/// A parameter is open where directions that noise hides have so much of its squares.
constexpr double share_that_counts = 0.01;

/// Tolerances of the step in a round that counts: in deviations under noise; without, of the parameter and of its
/// deviation, where classes that can be separated have steps of one length for ever.
constexpr double deviations_of_step = 4;
constexpr double relative_step = 1e-6;
constexpr double least_step = 1e-9;

/// Records' products have norm 1 at most, and their bound is that of the pair (Ψ̇/B1, ΨΨ'/B0²).
constexpr double scale_of_moments = std::numbers::sqrt2;

/// c with a mean of σ(c + τZ), Z normal, of this share.
double intercept_for(double share, double deviation) {
  constexpr int points = 64;
  double low = -50;
  double high = 50;
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    double mean = 0;
    for (int i = 0; i < points; ++i)
      mean += logistic(middle + deviation * normal_quantile((i + 0.5) / points)) / points;
    (mean < share ? low : high) = middle;
  }
  return low;
}

/// Parameters of logistic regression from the least-squares scores a + b·x̃ of labels −1 and 1, for uncorrelated x̃ of
/// one scale. Where scores s = c + k b·x̃ are about normal with deviation τ = k‖b‖, b = 2 E[σ'(s)] k b (Stein). With
/// σ(s) about Φ(s/κ), κ = 1.702, the share of the class is Φ(z), z = c/√(κ² + τ²), and E[σ'(s)] is φ(z)/√(κ² + τ²). So
/// k² (4φ(z)² − ‖b‖²) = κ². Of a rare class k is too small, and c follows from τ. Noise may leave any a and b: shares
/// and k stay in bounds. A share that noise of this deviation may have made is not believed, since steps from a start
/// beyond the estimate lead away from it.
void start_from_least_squares(bool intercept, double noise_of_share, Vector& coordinates) {
  const double least_share = std::min(2 * noise_of_share, 0.02);
  constexpr double kappa = 1.702;
  constexpr double least_room = 0.04;  // of 4φ², for τ of 8
  const double mean = intercept ? coordinates.back() : 0;
  const double share = std::clamp((1 + mean) / 2, least_share, 1 - least_share);
  const double z = normal_quantile(share);
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  if (intercept) coordinates.back() = 0;
  const double squares = dot(coordinates, coordinates);
  const double most = 4 * density * density;
  const double factor = kappa / std::sqrt(std::max(most - squares, least_room * most));
  scale(factor, coordinates);
  if (intercept) coordinates.back() = intercept_for(share, factor * std::sqrt(squares));
}

void add_to_diagonal(double value, std::size_t order, Vector& triangle) {
  for (std::size_t j = 0; j < order; ++j) triangle[triangle_at(j, j, order)] += value;
}

/// Takes a row and a column of a packed matrix for those of a parameter that has nothing to do with the others.
void set_apart(std::size_t j, double diagonal, std::size_t order, Vector& triangle) {
  for (std::size_t k = 0; k < order; ++k) triangle[triangle_at(std::min(j, k), std::max(j, k), order)] = 0;
  triangle[triangle_at(j, j, order)] = diagonal;
}

/// A packed matrix without these rows and columns, which are ascending.
Vector without_rows(View triangle, std::size_t order, const std::vector<std::size_t>& rows) {
  const auto stays = [&rows](std::size_t j) { return !std::binary_search(rows.begin(), rows.end(), j); };
  Vector rest;
  for (std::size_t j = 0; j < order; ++j) {
    for (std::size_t k = j; k < order; ++k) {
      if (stays(j) && stays(k)) rest.push_back(triangle[triangle_at(j, k, order)]);
    }
  }
  return rest;
}

/// The positive semidefinite part of a packed matrix.
Vector without_negative(View triangle, std::size_t order) {
  const dense::SymmetricEigen eigen = dense::symmetric_eigen(dense::symmetric(triangle, order));
  const auto d = static_cast<Eigen::Index>(order);
  const dense::MatrixXd part = dense::from_eigen(dense::VectorXd::Ones(d), eigen.vectors, eigen.values.cwiseMax(0.0));
  Vector packed;
  for (Eigen::Index j = 0; j < d; ++j) {
    for (Eigen::Index k = j; k < d; ++k) packed.push_back(part(j, k));
  }
  return packed;
}

/// L C Lᵀ of a packed covariance C.
dense::MatrixXd image_of(const dense::MatrixXd& linear, View covariance) {
  const auto order = static_cast<std::size_t>(linear.cols());
  return dense::product(dense::product(linear, dense::symmetric(covariance, order)), linear.transpose());
}

}  // namespace

NewtonRounds::NewtonRounds(Root& root, AggregatedClients& clients, MallowsModel& model, PreconditionedModel& prepared,
                           Preconditioner& preconditioner, const NewtonSettings& settings,
                           const Released<Vector>& start, PairedMechanism& mechanism, Vector factors)
    : AggregatedRounds(root, clients, start, &mechanism),
      clients_(clients),
      model_(model),
      prepared_(prepared),
      preconditioner_(preconditioner),
      settings_(settings),
      pair_(mechanism),
      factors_(std::move(factors)),
      squares_(make_curved_loss("squared")),
      least_squares_(std::make_unique<MallowsModel>(*squares_, model.dimension() - (settings.intercept ? 1 : 0),
                                                    settings.intercept, RowWeights::none)),
      scale_(model),
      moments_(model.dimension() - (settings.intercept ? 1 : 0), true),
      contribution_([this](std::size_t k) -> const Released<Vector>& { return part_of(k); }),
      message_(declare_public(Vector())),
      noisy_(declare_public(Vector())),
      sum_(declare_public(Vector())),
      coordinates_(declare_public(preconditioner.numbers())),
      directions_(Vector()),
      second_(Vector()) {}

SecondPart NewtonRounds::second_part(const MallowsModel& model, const NewtonSettings& settings) {
  SecondPart part = PlugInSums::part(model, CurvatureParts::both, share_of_curvature);
  part.what = "curvature and squared estimating function, or products of features and label";
  part.dimension = std::max(part.dimension, triangle_size(model.dimension() + (settings.intercept ? 1 : 2)));
  part.alone_in = settings.finds_scales ? 1 : 0;
  return part;
}

void NewtonRounds::run(const std::vector<Observer*>& observers) {
  begin(observers);
  const std::size_t d = model_.dimension();
  while (goes_on(settings_.rounds)) {
    const bool scales = finds_scales();
    root_.sum(head + (scales ? moments_.size() : d + 2 * scale_.triangle()), contribution_, sum_);
    if (root_.aggregates()) {
      const View sum = sum_.value();
      stepped_ = sum[taking_part] > 0;
      if (stepped_ && scales) find_scales(sum);
      if (stepped_ && !scales) step(sum);
    }
    if (scales) {
      root_.broadcast(coordinates_);
      take_coordinates();
    }
    root_.broadcast(theta_);
    completed();
  }
}

/// The message of client k: its head, and its noisy means, of which those of squares count twice its factor. Zeros if
/// it does not participate.
const Released<Vector>& NewtonRounds::part_of(std::size_t k) {
  message_.update([](Vector& message) { message.assign(head, 0.0); });
  const std::optional<double> price = clients_.begin(k, done_);
  if (price) {
    message_.update([&](Vector& message) {
      message[taking_part] = 1;
      message[with_records] = clients_.public_records(k, done_);
    });
    const ReleaseAddress address{ReleasePath::newton_direction, root_.first() + static_cast<Client>(k), done_, 0};
    const double factor = factors_.empty() ? 1 : factors_[k];
    if (finds_scales()) {
      release_moments(k, address.by(ReleasePath::newton_moments), *price, factor);
    } else {
      release_directions(k, address, *price, factor);
    }
  }
  const std::size_t length = head + (finds_scales() ? moments_.size() : model_.dimension() + 2 * scale_.triangle());
  message_.update([length](Vector& message) { message.resize(length); });
  return message_;
}

void NewtonRounds::release_moments(std::size_t k, const ReleaseAddress& address, double price, double factor) {
  apply(
      [&](Vector& sum, const Batch& batch) {
        sum.assign(moments_.size(), 0.0);
        moments_.add(batch, sum);
        scale(scale_of_moments, sum);
        sum.resize(size_of_second());
      },
      second_, *clients_.batch(k));
  pair_.release_second(address, price, clients_.key(k), second_, noisy_);
  const double deviation = factor * pair_.deviation_alone(price) / scale_of_moments;
  message_.update(
      [&](Vector& message, const Vector& noisy) {
        message[of_second] = deviation * deviation;
        const std::size_t at = message.size();
        message.insert(message.end(), noisy.begin(), noisy.begin() + static_cast<std::ptrdiff_t>(moments_.size()));
        scale(factor / scale_of_moments, MutableView(message).subspan(at));
      },
      noisy_);
}

/// Σ Ψ over client k's records. Scores count in the rounds that count: the others' models are on the way.
const Secret<Vector>& NewtonRounds::directions(std::size_t k) {
  if (closes()) return clients_.gradient(k, theta_.value(), pair_.clip());
  Model& model = fits_squares() ? static_cast<Model&>(*least_squares_) : prepared_;
  apply([&](Vector& sum,
            const Batch& batch) { static_cast<void>(model.evaluate(theta_.value(), batch, pair_.clip(), sum)); },
        directions_, *clients_.batch(k));
  return directions_;
}

void NewtonRounds::release_directions(std::size_t k, const ReleaseAddress& address, double price, double factor) {
  const View theta = theta_.value();
  pair_.release(address, price, clients_.key(k), directions(k), noisy_);
  const double deviation = factor * pair_.deviation(price);
  const double of_entry = factor * pair_.second_deviation(price);
  const std::size_t d = model_.dimension();
  const auto append = [this, factor, d](Vector& message, const Vector& noisy) {
    const std::size_t at = message.size();
    const std::size_t count = at == head ? d : 2 * scale_.triangle();
    message.insert(message.end(), noisy.begin(), noisy.begin() + static_cast<std::ptrdiff_t>(count));
    scale(factor, MutableView(message).subspan(at));
  };
  message_.update(append, noisy_);
  apply(
      [&](Vector& triangles, const Batch& batch) {
        if (fits_squares()) {
          least_squares_->curvature(theta, batch, triangles);
        } else if (majorises()) {
          model_.curvature(theta, batch, triangles, Bend::parabola);
        } else {
          prepared_.curvature(model_, theta, batch, triangles);
        }
        scale_.scale(triangles);
        triangles.resize(size_of_second());
      },
      second_, *clients_.batch(k));
  pair_.release_second(address.by(ReleasePath::newton_curvature), price, clients_.key(k), second_, noisy_);
  message_.update(append, noisy_);
  message_.update([&](Vector& message) {
    scale(factor, MutableView(message).subspan(head + d + scale_.triangle()));
    message[of_direction] = deviation * deviation;
    message[of_second] = of_entry * of_entry;
  });
}

/// Coordinates and a start from the second moments of all records.
void NewtonRounds::find_scales(View sum) {
  const double clients = sum[taking_part];
  Vector means(sum.begin() + head, sum.end());
  scale(1 / clients, means);
  NoisyMoments moments = moments_.moments(means, std::sqrt(sum[of_second]) / clients);
  const std::size_t features = model_.dimension() - (settings_.intercept ? 1 : 0);
  moments.triangle = without_rows(moments.triangle, features + 2, settings_.left_out);
  const Preconditioner found = Preconditioner(moments, features - settings_.left_out.size(), settings_.intercept)
                                   .beside(features, settings_.left_out);
  coordinates_ = declare_public(found.numbers());
  if (!found.found_scales()) return;
  Vector start(model_.dimension());
  found.coordinates(found.start(), start);
  if (model_.link() == Link::logit) {
    const std::size_t used = features - settings_.left_out.size();
    const double weight = moments.triangle[triangle_at(used, used, used + 2)];
    start_from_least_squares(settings_.intercept, moments.noise / (2 * std::numbers::sqrt2 * weight), start);
  }
  if (model_.link() != Link::logit && model_.link() != Link::identity) start.assign(start.size(), 0.0);
  preconditioner_ = found;
  theta_ = declare_public(parameters_of(start));
}

/// All ranks have rank 0's: processors may round differently.
void NewtonRounds::take_coordinates() {
  preconditioner_ =
      Preconditioner(coordinates_.value(), model_.dimension() - (settings_.intercept ? 1 : 0), settings_.intercept);
}

Vector NewtonRounds::parameters_of(View coordinates) const {
  Vector theta(coordinates.begin(), coordinates.end());
  preconditioner_.to_parameters(theta);
  return theta;
}

/// Means over the records of the clients that take part in a round.
NewtonRounds::Means NewtonRounds::means_of(View sum) const {
  const std::size_t d = model_.dimension();
  const double records = sum[with_records];
  const double per_record = static_cast<double>(pair_.settings().batch) / records;
  Means means;
  means.rounds = 1;
  means.model.resize(d);
  preconditioner_.coordinates(theta_.value(), means.model);
  means.direction.assign(sum.begin() + head, sum.begin() + static_cast<std::ptrdiff_t>(head + d));
  scale(per_record, means.direction);
  PlugInMeans matrices = scale_.unscaled(sum.subspan(head + d), std::sqrt(sum[of_second]) * per_record);
  means.curvature = std::move(matrices.curvature);
  means.moment = std::move(matrices.moment);
  scale(per_record, means.curvature);
  scale(per_record, means.moment);
  means.noise = sum[of_direction] * per_record * per_record;
  means.of_curvature = matrices.curvature_noise * matrices.curvature_noise;
  means.of_records = 1 / records;
  double trace = 0;
  for (const std::size_t j : settings_.left_out) {
    means.direction[j] = 0;
    set_apart(j, 0, d, means.moment);
    set_apart(j, 0, d, means.curvature);
  }
  for (std::size_t j = 0; j < d; ++j) trace += means.curvature[triangle_at(j, j, d)];
  for (const std::size_t j : settings_.left_out)
    means.curvature[triangle_at(j, j, d)] = trace / static_cast<double>(parameters());
  return means;
}

void NewtonRounds::step(View sum) {
  records_ = sum[with_records];
  const Means means = means_of(sum);
  follow_curvature(means);
  const Vector next = next_model(means);
  if (closes()) close(means);
  theta_ = declare_public(done_ + 1 == settings_.rounds ? estimate().value().estimate : parameters_of(next));
  const bool finite =
      std::ranges::all_of(theta_.value(), [](double x) { return std::abs(x) < largest_parameter_of_rounds; });
  check<DataError>(finite,
                   "round {}: the model is not finite: a record is out of range. Look for huge values in the data.",
                   done_ + 1);
}

void NewtonRounds::follow_curvature(const Means& means) {
  if (fits_squares()) flat_ = means.curvature;
  if (curvature_.empty() || exact()) {
    curvature_ = means.curvature;
    curvature_noise_ = means.of_curvature;
    return;
  }
  scale(0.5, curvature_);
  axpy(0.5, means.curvature, curvature_);
  curvature_noise_ = (curvature_noise_ + means.of_curvature) / 4;
}

/// Records by the part of the largest curvature that they have on average: of least squares without noise, else of the
/// bound, which is on the trace.
double NewtonRounds::effective_records(View curvature, double records) const {
  const std::size_t d = model_.dimension();
  if (exact() && flat_.empty()) return records;
  double share = 0;
  for (std::size_t j = 0; j < d; ++j) {
    if (is_left_out(j)) continue;
    const std::size_t at = triangle_at(j, j, d);
    if (!exact()) {
      share += curvature[at] / model_.most_curvature();
    } else if (flat_[at] > 0) {
      share += curvature[at] / (flat_[at] * static_cast<double>(parameters()));
    }
  }
  return share * records;
}

/// θ_{t+1}, in the coordinates. Without noise the model stays where too few records bend the loss, and half the step
/// before is taken back where it led to a longer direction.
Vector NewtonRounds::next_model(const Means& means) {
  Vector step = newton_step({curvature_, std::sqrt(curvature_noise_)}, means.direction);
  Vector next = means.model;
  if (!exact()) {
    const double length = std::sqrt(dot(step, step));
    const double most = longest_newton_step * std::sqrt(static_cast<double>(step.size()));
    axpy(length > most ? -most / length : -1, step, next);
    return next;
  }
  if (!majorises() && !suffices(effective_records(means.curvature, records_), records_)) return next;
  const double length = std::sqrt(dot(means.direction, means.direction));
  if (!last_step_.empty() && length > last_length_ * (1 + 1e-9) && length > 1e-12) {
    scale(0.5, last_step_);
    axpy(1, last_step_, next);
    return next;
  }
  axpy(-1, step, next);
  last_length_ = length;
  last_step_ = fits_squares() ? Vector() : std::move(step);  // its direction is of another loss
  return next;
}

void NewtonRounds::close(const Means& means) {
  const auto add = [](const Vector& from, Vector& to) {
    to.resize(from.size());
    axpy(1, from, to);
  };
  if (!first_direction_) first_direction_ = means.direction;
  ++closing_.rounds;
  add(means.model, closing_.model);
  add(means.direction, closing_.direction);
  add(means.curvature, closing_.curvature);
  add(means.moment, closing_.moment);
  closing_.noise += means.noise;
  closing_.of_curvature += means.of_curvature;
  closing_.of_records += means.of_records;
}

bool NewtonRounds::exact() const {
  return pair_.price_kind() == PriceKind::none;
}

std::optional<NewtonEstimate> NewtonRounds::estimate() const {
  if (!root_.aggregates() || closing_.rounds == 0) return std::nullopt;
  const std::size_t d = model_.dimension();
  const auto rounds = static_cast<double>(closing_.rounds);
  Means means = closing_;
  for (Vector* each : {&means.model, &means.direction, &means.curvature, &means.moment}) scale(1 / rounds, *each);
  const ReleasedMatrix curvature{means.curvature, std::sqrt(means.of_curvature) / rounds};
  const double of_records = means.of_records / rounds;
  NewtonEstimate result;
  result.effective_records = effective_records(means.curvature, 1 / of_records);
  result.has_enough = suffices(result.effective_records, 1 / of_records);
  Vector at = means.model;
  if (result.has_enough || !exact()) axpy(-1, newton_step(curvature, means.direction), at);
  result.fits_all = exact() && model_.link() == Link::identity && fits_within_roundings(means);
  // As HC1: residuals are smaller than errors, since the model has followed them.
  Vector influence = exact() ? means.moment : without_negative(means.moment, d);
  scale(of_records / std::max(1 - of_records * static_cast<double>(parameters()), of_records), influence);
  add_to_diagonal(means.noise / (rounds * rounds), d, influence);
  const PlugIn inner = plug_in(at, curvature, {influence, 0}, 1);

  result.estimate = parameters_of(at);
  const dense::MatrixXd image = image_of_coordinates();
  const dense::MatrixXd covariance = image_of(image, inner.covariance);
  for (std::size_t j = 0; j < d; ++j) {
    const auto row = static_cast<Eigen::Index>(j);
    for (std::size_t k = j; k < d; ++k) result.covariance.push_back(covariance(row, static_cast<Eigen::Index>(k)));
    double open = 0;
    for (const Vector& each : inner.hidden)
      open += std::pow(
          image.row(row).dot(Eigen::Map<const dense::VectorXd>(each.data(), static_cast<Eigen::Index>(each.size()))),
          2);
    if (is_left_out(j)) {  // no coordinate but its own has a part in it
      result.deviations.push_back(0);
      continue;
    }
    const bool is_open = !result.has_enough || open > share_that_counts * image.row(row).squaredNorm();
    if (is_open) result.undetermined.push_back(j);
    result.deviations.push_back(is_open ? std::numeric_limits<double>::infinity()
                                        : std::sqrt(std::max(0.0, covariance(row, row))));
  }
  // A step has the noise of two rounds.
  Vector of_noise(triangle_size(d));
  add_to_diagonal(2 * means.noise / rounds, d, of_noise);
  const dense::MatrixXd of_step = image_of(image, plug_in(at, curvature, {of_noise, 0}, 1).covariance) + covariance;
  const Vector first = parameters_of(newton_step(curvature, first_direction_.value()));
  for (std::size_t j = 0; j < d; ++j) {
    const auto row = static_cast<Eigen::Index>(j);
    const double deviation = std::sqrt(std::max(0.0, of_step(row, row)));
    const double tolerance = exact() ? relative_step * std::abs(result.estimate[j]) + least_step * deviation
                                     : deviations_of_step * deviation;
    const double size = is_left_out(j) ? 0 : std::abs(first[j]) / tolerance;
    if (!(size > result.step)) continue;
    result.step = size;
    result.stepping = j;
  }
  return result;
}

/// Whether errors of labels are as small as roundings of scores, whose mean square is θᵀHθ where all errors bend the
/// loss.
bool NewtonRounds::fits_within_roundings(const Means& means) const {
  constexpr double of_roundings = 1e-20;  // as squares
  const std::size_t d = model_.dimension();
  const auto theta = Eigen::Map<const dense::VectorXd>(means.model.data(), static_cast<Eigen::Index>(d));
  const double scores = theta.dot(dense::symmetric(means.curvature, d) * theta);
  for (std::size_t j = 0; j < d; ++j) {
    const std::size_t at = triangle_at(j, j, d);
    if (means.moment[at] > of_roundings * scores * means.curvature[at]) return false;
  }
  return scores > 0;
}

/// Column k has the parameters of coordinate k: they are a linear image.
dense::MatrixXd NewtonRounds::image_of_coordinates() const {
  const auto d = static_cast<Eigen::Index>(model_.dimension());
  dense::MatrixXd image(d, d);
  for (Eigen::Index k = 0; k < d; ++k) {
    Vector unit(model_.dimension());
    unit[static_cast<std::size_t>(k)] = 1;
    const Vector column = parameters_of(unit);
    image.col(k) = Eigen::Map<const dense::VectorXd>(column.data(), d);
  }
  return image;
}

void NewtonRounds::persist(Snapshot& snapshot) {
  AggregatedRounds::persist(snapshot);
  snapshot(coordinates_);
  if (snapshot.reading()) take_coordinates();
  snapshot.of_first_rank(root_.aggregates(), records_, flat_, curvature_, curvature_noise_, closing_, first_direction_,
                         last_step_, last_length_);
}

}  // namespace starling
