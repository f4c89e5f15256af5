#include "privacy/pairs/pair_price.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/check.hpp"
#include "core/numerics/dense.hpp"

namespace starling {

namespace {

constexpr double outweighs_roundings = 1 + 1e-6;
constexpr double most_work = 2e8;  // products of numbers
constexpr Client most_clients_of_inverse = 512;
constexpr double share_of_clients = 0.6;

double exposure_of_complete(double honest, double ratio) {
  return 1 / honest + (1 - 1 / honest) / (1 + ratio * ratio * honest);
}

/// (I + r² L)⁻¹ of the whole graph.
dense::MatrixXd inverse_of(const PairGraph& graph, double square) {
  const Client clients = graph.clients();
  dense::MatrixXd matrix = dense::MatrixXd::Identity(clients, clients);
  for (Client u = 0; u < clients; ++u) {
    matrix(u, u) += square * static_cast<double>(graph.degree(u));
    for (const Client v : graph.partners(u)) matrix(u, v) -= square;
  }
  return dense::inverse(matrix);
}

/// The largest exposure of another client without client c. Its edges are a term r² U Uᵀ of the matrix, with columns
/// e_v − e_c of U; without it the inverse G becomes G + r² G U (I − r² UᵀG U)⁻¹ UᵀG.
double exposure_without(const PairGraph& graph, const dense::MatrixXd& all, double square, Client c) {
  const auto& partners = graph.partners(c);
  const auto count = static_cast<Eigen::Index>(partners.size());
  dense::MatrixXd across(count, graph.clients());  // UᵀG
  for (Eigen::Index i = 0; i < count; ++i) {
    across.row(i) = all.row(partners[static_cast<std::size_t>(i)]) - all.row(c);
  }
  dense::MatrixXd inner = dense::MatrixXd::Identity(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      inner(i, j) -= square * (across(i, partners[static_cast<std::size_t>(j)]) - across(i, c));
    }
  }
  const dense::MatrixXd symmetric = 0.5 * (inner + inner.transpose());
  const dense::CholeskyFactor factor(symmetric);
  if (!factor.sound()) return 1;
  const dense::MatrixXd solved = count == 0 ? across : factor.solve(across);
  double most = 0;
  for (Client u = 0; u < graph.clients(); ++u) {
    if (u != c) most = std::max(most, all(u, u) + square * across.col(u).dot(solved.col(u)));
  }
  return most;
}

bool small_enough(const PairGraph& graph, Client colluding) {
  if (colluding > 1 || graph.clients() > most_clients_of_inverse) return false;
  return colluding == 0 || graph.square_degrees() * static_cast<double>(graph.clients()) <= most_work;
}

double exact_exposure(const PairGraph& graph, double ratio, Client colluding) {
  const double square = ratio * ratio;
  const dense::MatrixXd all = inverse_of(graph, square);
  double most = 0;
  for (Client c = 0; c < graph.clients(); ++c) {
    most = std::max(most, colluding == 0 ? all(c, c) : exposure_without(graph, all, square, c));
  }
  return most;
}

/// The numbers of leaves of u's partners in the tree. Partners take leaves in turn.
class TreeOfPartners {
 public:
  explicit TreeOfPartners(const PairGraph& graph)
      : graph_(graph), taken_(static_cast<std::size_t>(graph.clients()), -1) {}

  [[nodiscard]] std::vector<std::size_t> leaves_of(Client u) {
    const auto& partners = graph_.partners(u);
    std::vector<std::size_t> leaves(partners.size(), 0);
    std::vector<std::size_t> next(partners.size(), 0);
    take(u, u);
    for (const Client v : partners) take(v, u);
    for (bool any = true; any;) {
      any = false;
      for (std::size_t i = 0; i < partners.size(); ++i) {
        const auto& further = graph_.partners(partners[i]);
        while (next[i] < further.size() && taken_[static_cast<std::size_t>(further[next[i]])] == u) ++next[i];
        if (next[i] == further.size()) continue;
        take(further[next[i]], u);
        ++leaves[i];
        any = true;
      }
    }
    return leaves;
  }

 private:
  void take(Client v, Client u) { taken_[static_cast<std::size_t>(v)] = u; }

  const PairGraph& graph_;
  std::vector<Client> taken_;  ///< the client whose tree has it
};

double bound_of_trees(const PairGraph& graph, double ratio, Client colluding) {
  const double square = ratio * ratio;
  const auto gone = static_cast<std::size_t>(colluding);
  TreeOfPartners tree(graph);
  double most = 0;
  for (Client u = 0; u < graph.clients(); ++u) {
    std::vector<std::size_t> leaves = tree.leaves_of(u);
    std::ranges::sort(leaves, std::greater());
    double conductance = 1;
    for (std::size_t i = gone; i < leaves.size(); ++i) {
      conductance += 1 / (1 / square + 1 / (1 + static_cast<double>(leaves[i]) * square / (1 + square)));
    }
    most = std::max(most, 1 / conductance);
  }
  return most;
}

}  // namespace

double exposure(const PairGraph& graph, double ratio, Client colluding) {
  check(ratio > 0 && ratio <= largest_ratio, "noise of pairs {} times that of clients (0 to {})", ratio, largest_ratio);
  check(colluding >= 0, "{} colluding clients (there cannot be fewer than none)", colluding);
  if (static_cast<std::size_t>(colluding) >= graph.least_degree()) return 1;
  const double bound = graph.complete() ? exposure_of_complete(static_cast<double>(graph.clients() - colluding), ratio)
                       : small_enough(graph, colluding) ? exact_exposure(graph, ratio, colluding)
                                                        : bound_of_trees(graph, ratio, colluding);
  return std::min(1.0, bound * outweighs_roundings);
}

double least_ratio(const PairGraph& graph, Client colluding) {
  const auto hiding = [&](std::int64_t steps) {
    return 1 / exposure(graph, static_cast<double>(steps) * ratio_step, colluding);
  };
  auto most = static_cast<std::int64_t>(largest_ratio / ratio_step);
  const double at_most = hiding(most);
  const double wanted = share_of_clients * static_cast<double>(graph.clients() - colluding);
  const double target = at_most >= wanted ? wanted : share_of_clients * at_most;
  std::int64_t least = 0;  // hides too few
  while (most - least > 1) {
    const std::int64_t middle = least + (most - least) / 2;
    (hiding(middle) >= target ? most : least) = middle;
  }
  return static_cast<double>(most) * ratio_step;
}

}  // namespace starling
