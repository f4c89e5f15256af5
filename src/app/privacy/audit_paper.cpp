#include "audit_paper.hpp"

#include <array>
#include <cmath>
#include <memory>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "core/check.hpp"
#include "core/random.hpp"
#include "loss/loss.hpp"

namespace starling {

namespace {

// Entries of θ for the largest number of features, whatever p is. With fewer features, entries after the intercept stay
// 0.
constexpr int padded_entries = most_paper_features + 1;
using Entries = Eigen::Matrix<double, padded_entries, 1>;
using Square = Eigen::Matrix<double, padded_entries, padded_entries>;

struct PaperRow {
  Entries x = Entries::Zero();  ///< features, then 1
  double label = 1;
};

/// ξ is the aggregator's to open.
class Aggregator : protected Release {
 public:
  static const Vector& read(const Secret<Vector>& noise) { return open(noise); }
};

/// Rows of one norm around the labels' directions; the first is far out in its first feature.
std::vector<PaperRow> rows_of(const PaperStream& stream) {
  const double reach = std::sqrt(stream.row_norm * stream.row_norm - 1);
  std::vector<PaperRow> rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(stream.rounds) * stream.batch; ++i) {
    AddressedRandom random(1, Purpose::experiment, 0, i);
    PaperRow row;
    row.label = i % 2 == 0 ? 1 : -1;
    for (std::size_t j = 0; j < stream.features; ++j) {
      row.x[static_cast<int>(j)] = i == 0 ? (j == 0 ? 1 : 0) : random.normal() + 0.2 * row.label;
    }
    row.x *= reach / row.x.norm();
    row.x[static_cast<int>(stream.features)] = 1;
    rows.push_back(row);
  }
  return rows;
}

/// The recursion (45).
class Recursion {
 public:
  Recursion(PaperPerturbation& mechanism, const PaperStream& stream)
      : mechanism_(mechanism),
        stream_(stream),
        loss_(make_curved_loss("dwd:q=1,smoothing=paper")),
        rows_{rows_of(stream), rows_of(stream)} {
    rows_[1].front().label = -1;
  }

  void run(std::size_t side, const NoiseKey& key, MutableView seen) const {
    const std::size_t size = stream_.features + 1;
    const PaperTerms& terms = mechanism_.terms();
    const auto m = static_cast<double>(stream_.batch);
    Entries theta = Entries::Zero();
    Square j = Square::Zero();
    for (Round b = 0; b < stream_.rounds; ++b) {
      const std::size_t first = static_cast<std::size_t>(b) * stream_.batch;
      Entries right = (m * terms.lambda + terms.rho) * theta;
      j += m * terms.lambda * Square::Identity();
      for (std::size_t i = 0; i < stream_.batch; ++i) add(rows_[side][first + i], theta, right, j);
      const Secret<Vector> noise = mechanism_.noise({ReleasePath::renewable_paper, 0, b, 0}, key,
                                                    m * static_cast<double>(b), m * static_cast<double>(b + 1));
      for (std::size_t k = 0; k < size; ++k) right[static_cast<int>(k)] += Aggregator::read(noise)[k];
      theta -= (j + terms.rho * Square::Identity()).llt().solve(right);
      for (std::size_t k = 0; k < size; ++k) {
        seen[static_cast<std::size_t>(b) * size + k] = theta[static_cast<int>(k)];
      }
    }
  }

 private:
  void add(const PaperRow& row, const Entries& theta, Entries& gradient, Square& j) const {
    const double score = row.x.dot(theta);
    double slope = 0;
    loss_->derivative(View(&score, 1), row.label, MutableView(&slope, 1));
    gradient += slope * row.x;
    j += loss_->curvature(score, row.label) * row.x * row.x.transpose();
  }

  PaperPerturbation& mechanism_;
  PaperStream stream_;
  std::unique_ptr<CurvedLoss> loss_;
  std::array<std::vector<PaperRow>, 2> rows_;
};

}  // namespace

AuditSubject paper_subject(PaperPerturbation& mechanism, const PaperStream& stream, const AuditKeys& keys) {
  check(stream.features >= 1 && stream.features <= most_paper_features, "{} features: its audit solves for 1 to {}.",
        stream.features, most_paper_features);
  check(stream.row_norm >= 1, "--row-norm {}: a row has a 1 for the intercept, so its norm is at least that.",
        stream.row_norm);
  check(mechanism.terms().lambda > 0, "--l2 {}: the model of the first batch has no other curvature. Give more than 0.",
        mechanism.terms().lambda);
  const auto recursion = std::make_shared<const Recursion>(mechanism, stream);
  AuditSubject subject;
  subject.name = fmt::format("a record of norm {:g} in the first batch has one label or the other; {} models are seen",
                             stream.row_norm, stream.rounds);
  subject.length = static_cast<std::size_t>(stream.rounds) * (stream.features + 1);
  subject.observe = [recursion, keys](int side, std::int64_t sample, MutableView seen) {
    recursion->run(static_cast<std::size_t>(side), keys(side, sample), seen);
  };
  return subject;
}

}  // namespace starling
