#include "privacy/pairs/pair_price.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/check.hpp"
#include "core/numerics/dense.hpp"

namespace starling {

namespace {

constexpr double roundoff_of_price = 0x1p-53;
constexpr double outweighs_few_roundings = 1 + 0x1p-40;
constexpr double most_work = 1e9;                // products of numbers
constexpr double most_work_of_coalitions = 5e7;  // as many for each ratio that is tried
constexpr Client most_clients_of_inverse = 1024;
constexpr double share_of_clients = 0.6;

double exposure_of_complete(double honest, double ratio) {
  return 1 / honest + (1 - 1 / honest) / (1 + ratio * ratio * honest);
}

/// Ĝ, symmetric, near (I + r² L)⁻¹ of the whole graph, and a bound on ‖R‖, R = (I + r² L) Ĝ − I. The matrix is no less
/// than I, so that ‖R‖ bounds the errors of Ĝ too.
struct NearInverse {
  dense::MatrixXd entries;
  double residual = 0;
};

/// Each entry of R is a sum of deg + 2 products, of which the matrix's absolute values add up to 1 + 2 r² deg at most,
/// times entries of Ĝ, which are below 2.
double rounding_of_residual(const PairGraph& graph, double square) {
  const auto degree = static_cast<double>(graph.most_degree());
  return 2 * (degree + 8) * roundoff_of_price * (1 + 2 * square * degree) * static_cast<double>(graph.clients());
}

NearInverse near_inverse(const PairGraph& graph, double square) {
  const Client clients = graph.clients();
  dense::MatrixXd matrix = dense::MatrixXd::Identity(clients, clients);
  for (Client u = 0; u < clients; ++u) {
    matrix(u, u) += square * static_cast<double>(graph.degree(u));
    for (const Client v : graph.partners(u)) matrix(u, v) -= square;
  }
  NearInverse result{dense::inverse(matrix)};
  result.entries = (0.5 * (result.entries + result.entries.transpose())).eval();
  double squares = 0;
  for (Client j = 0; j < clients; ++j) {
    for (Client i = 0; i < clients; ++i) {
      double sum = matrix(i, i) * result.entries(i, j) - (i == j ? 1 : 0);
      for (const Client v : graph.partners(i)) sum -= square * result.entries(v, j);
      squares += sum * sum;
    }
  }
  result.residual = std::sqrt(squares) + rounding_of_residual(graph, square);
  return result;
}

/// A bound on the exposure of another client without client c. Its k edges are a term r² U Uᵀ of the matrix, with
/// columns e_v − e_c of U, ‖U‖² = k + 1. With W = UᵀĜ U the matrix without them has nearly the inverse Ĝ + r² ĜU X,
/// X = (I − r² W)⁻¹ UᵀĜ. Its residual is R + r² R U X + r² U ρ, where ρ = (I − r² W) X − UᵀĜ, and bounds its errors, as
/// that matrix, too, is no less than I. Entries of W are below 8, roundings of ρ bounded as those of R.
double exposure_without(const PairGraph& graph, const NearInverse& all, double square, Client c) {
  const auto& partners = graph.partners(c);
  const auto count = static_cast<Eigen::Index>(partners.size());
  dense::MatrixXd across(count, graph.clients());  // UᵀĜ
  for (Eigen::Index i = 0; i < count; ++i) {
    across.row(i) = all.entries.row(partners[static_cast<std::size_t>(i)]) - all.entries.row(c);
  }
  dense::MatrixXd inner = dense::MatrixXd::Identity(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      inner(i, j) -= square * (across(i, partners[static_cast<std::size_t>(j)]) - across(i, c));
    }
  }
  const dense::CholeskyFactor factor((0.5 * (inner + inner.transpose())).eval());
  if (!factor.sound()) return 1;
  const dense::MatrixXd solved = factor.solve(across);
  const dense::MatrixXd left = dense::product(inner, solved) - across;  // ρ
  const auto k = static_cast<double>(count);
  const double norm_of_edges = square * std::sqrt(k + 1);
  const double rounding = (k + 16) * roundoff_of_price * (1 + 8 * square * k) * std::sqrt(k);
  double most = 0;
  for (Client u = 0; u < graph.clients(); ++u) {
    if (u == c) continue;
    const double size = solved.col(u).norm();
    const double error = all.residual * (1 + norm_of_edges * size) +
                         norm_of_edges * (left.col(u).norm() + rounding * (size + across.col(u).norm()));
    most = std::max(most, all.entries(u, u) + square * across.col(u).dot(solved.col(u)) + error);
  }
  return most;
}

/// Coalitions of so many of n clients.
double count_of_coalitions(Client clients, Client colluding) {
  double count = 1;
  for (Client k = 0; k < colluding && count <= most_work_of_coalitions; ++k)
    count *= static_cast<double>(clients - k) / (k + 1);
  return count;
}

bool small_enough(const PairGraph& graph, Client colluding) {
  const auto n = static_cast<double>(graph.clients());
  if (graph.clients() > most_clients_of_inverse) return false;
  if (colluding > 1) return count_of_coalitions(graph.clients(), colluding) * n * n * n <= most_work_of_coalitions;
  return colluding == 0 || graph.square_degrees() * n <= most_work;
}

/// The graph without the edges of a coalition, whose members are then alone: their exposure of 1 does not count.
PairGraph graph_without(const PairGraph& graph, const std::vector<bool>& gone) {
  std::vector<PairGraph::Pair> pairs;
  for (Client u = 0; u < graph.clients(); ++u) {
    for (const Client v : graph.partners(u)) {
      if (u < v && !gone[static_cast<std::size_t>(u)] && !gone[static_cast<std::size_t>(v)]) pairs.emplace_back(u, v);
    }
  }
  return PairGraph::of(graph.clients(), pairs);
}

/// The largest exposure over all coalitions of more than one client, an inverse for each.
double exposure_by_coalitions(const PairGraph& graph, double square, Client colluding) {
  std::vector<bool> gone(static_cast<std::size_t>(graph.clients()), false);
  std::fill_n(gone.begin(), colluding, true);
  double most = 0;
  do {
    const NearInverse all = near_inverse(graph_without(graph, gone), square);
    for (Client u = 0; u < graph.clients(); ++u) {
      if (!gone[static_cast<std::size_t>(u)]) most = std::max(most, all.entries(u, u) + all.residual);
    }
  } while (std::prev_permutation(gone.begin(), gone.end()));
  return most;
}

double exact_exposure(const PairGraph& graph, double ratio, Client colluding) {
  const double square = ratio * ratio;
  if (colluding > 1) return exposure_by_coalitions(graph, square, colluding);
  const NearInverse all = near_inverse(graph, square);
  double most = 0;
  for (Client c = 0; c < graph.clients(); ++c) {
    most = std::max(most, colluding == 0 ? all.entries(c, c) + all.residual : exposure_without(graph, all, square, c));
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

double exposure_by(double (*of_others)(const PairGraph&, double, Client), const PairGraph& graph, double ratio,
                   Client colluding) {
  check(ratio > 0 && ratio <= largest_ratio, "noise of pairs {} times that of clients: 0 to {}.", ratio, largest_ratio);
  check(colluding >= 0, "{} colluding clients: there cannot be fewer than none.", colluding);
  if (static_cast<std::size_t>(colluding) >= graph.least_degree()) return 1;
  const double bound = graph.complete() ? exposure_of_complete(static_cast<double>(graph.clients() - colluding), ratio)
                                        : of_others(graph, ratio, colluding);
  return std::min(1.0, bound * outweighs_few_roundings);
}

}  // namespace

double exposure(const PairGraph& graph, double ratio, Client colluding) {
  return exposure_by(small_enough(graph, colluding) ? exact_exposure : bound_of_trees, graph, ratio, colluding);
}

double quick_exposure(const PairGraph& graph, double ratio, Client colluding) {
  return exposure_by(bound_of_trees, graph, ratio, colluding);
}

double least_ratio(const PairGraph& graph, Client colluding) {
  const auto hiding = [&](std::int64_t steps, Client gone) {
    return 1 / exposure(graph, static_cast<double>(steps) * ratio_step, gone);
  };
  constexpr auto largest = static_cast<std::int64_t>(largest_ratio / ratio_step);
  const double wanted = share_of_clients * static_cast<double>(graph.clients() - colluding);
  std::int64_t most = largest;
  std::int64_t least = 0;  // hides too few
  while (most - least > 1) {
    const std::int64_t middle = least + (most - least) / 2;
    (hiding(middle, 0) >= wanted ? most : least) = middle;
  }
  // A coalition hides no more than nobody does, and takes longer to work out: start from there.
  while (most < largest && hiding(most, colluding) < wanted) ++most;
  return static_cast<double>(most) * ratio_step;
}

double least_hiding(const PairGraph& graph, Client colluding) {
  if (static_cast<std::size_t>(colluding) >= graph.least_degree()) return 1;
  if (graph.complete()) return 1 / exposure(graph, least_ratio(graph, colluding), colluding);
  // The ratio is the largest, or hides so many.
  return std::min(1 / std::min(1.0, bound_of_trees(graph, largest_ratio, colluding) * outweighs_few_roundings),
                  share_of_clients * static_cast<double>(graph.clients() - colluding));
}

}  // namespace starling
