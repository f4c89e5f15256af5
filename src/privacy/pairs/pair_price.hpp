/// The price of noise between pairs: how well clients hide each other (docs/methods/privacy.md, "Noise between pairs").
///
/// H is the graph of the honest clients' pairs, L its Laplacian, r = σ_b/σ_a. A unit shift of client u's integers can
/// be explained by shifts a_v of the clients' own noises and f_e of the pairs' noises wherever, at each client, the
/// shifts add up to what they must: a flow from u to the ground, over edges of conductance r² and a ground of
/// conductance 1 at each client. The least of Σ a_v² + Σ f_e²/r² over all flows is the resistance between u and the
/// ground,
///
///   h_u = [(I + r² L)⁻¹]_uu,   from 1/|component of u| to 1,
///
/// the exposure of u. One more colluding client, or one edge less, never lowers it (Rayleigh's monotonicity: a flow on
/// the smaller graph is a flow on the larger one).
#pragma once

#include "privacy/pairs/pair_graph.hpp"

namespace starling {

/// An upper bound on h_u over all clients u and all coalitions of `colluding` >= 0 other clients; 1 if they can be all
/// partners of a client.
///
/// Complete graphs: exact, 1/m + (1 − 1/m)/(1 + r² m) with m = n − `colluding` honest clients. No or one colluding
/// client and a small graph: exact, by one inverse and a downdate of it for each colluding client. Several of a few
/// clients (of 16: up to seven, of 24: three, of 40: two): exact, by an inverse for each coalition. Otherwise the bound
/// of a tree: u, its partners, and the partners of these that are neither u nor partners of u nor in the tree yet.
/// Edges outside of it are dropped, which raises h. A partner with l such leaves is a way to the ground of conductance
///
///   c(l) = 1/(1/r² + 1/(1 + l r²/(1 + r²))),
///
/// and a client that leaves the tree lowers the sum of these by at most the largest of those left: h_u <= 1/(1 + Σ c)
/// over all partners but the `colluding` ones with the largest c.
///
/// An inverse that is worked out in floating point is not exact: the norm of its residual is added. It bounds the
/// error, since all eigenvalues of I + r² L are at least 1. A few parts in 10^5 for a thousand clients.
[[nodiscard]] double exposure(const PairGraph& graph, double ratio, Client colluding);

/// The same, exact for complete graphs alone: for graphs of which each round has its own.
[[nodiscard]] double quick_exposure(const PairGraph& graph, double ratio, Client colluding);

/// The ratios r from which a run chooses: multiples of 1/8, up to 5.
inline constexpr double ratio_step = 0.125;
inline constexpr double largest_ratio = 5;

/// The least ratio at which 1/exposure is at least 0.6 (n − `colluding`); the largest for graphs that hide fewer. The
/// optimum is flat. More noise between pairs hides little more, takes more rounds of mixing to cancel, and disturbs the
/// models at which gradients are taken.
[[nodiscard]] double least_ratio(const PairGraph& graph, Client colluding);

/// Clients that hide each other by `least_ratio`, at least: known at once for graphs of any size.
[[nodiscard]] double least_hiding(const PairGraph& graph, Client colluding);

}  // namespace starling
