#include "starling/data/partition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "starling/core/check.hpp"
#include "starling/core/random.hpp"

namespace starling {

namespace {

/// Fisher and Yates.
void shuffle(std::vector<std::size_t>& items, AddressedRandom random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

/// Equal blocks in file order: record i of N goes to client ⌊i·n/N⌋.
class Contiguous final : public Partition {
 public:
  [[nodiscard]] std::vector<Client> assign(View labels, Client clients, std::uint64_t /*seed*/) const override {
    std::vector<Client> owner(labels.size());
    for (std::size_t i = 0; i < owner.size(); ++i) {
      owner[i] = static_cast<Client>(i * static_cast<std::size_t>(clients) / owner.size());
    }
    return owner;
  }
};

/// A random permutation, dealt out like cards: sizes differ by at most one.
class Iid final : public Partition {
 public:
  [[nodiscard]] std::vector<Client> assign(View labels, Client clients, std::uint64_t seed) const override {
    std::vector<std::size_t> order(labels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, AddressedRandom(seed, Purpose::partition, 0, 0));
    std::vector<Client> owner(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      owner[order[k]] = static_cast<Client>(k % static_cast<std::size_t>(clients));
    }
    return owner;
  }
};

/// Skewed classes: per class, the shares of the clients are drawn from Dir(α, …, α) and the shuffled records of the
/// class are cut at the cumulative shares (Yurochkin et al. 2019, Bayesian nonparametric federated learning of neural
/// networks; Li et al. 2022, Federated learning on non-IID data silos). Their clients differ in size as well, so that
/// an online run ends with the largest client learning alone. Balanced, the shares are scaled so that clients are about
/// equally large and every record is still dealt: only the classes are skewed. Nothing is drawn again until every
/// client has ten records, as Li et al. do: unbalanced, a client may get none.
class Dirichlet final : public Partition {
 public:
  Dirichlet(double alpha, bool balanced) : alpha_(alpha), balanced_(balanced) {}

  [[nodiscard]] std::vector<Client> assign(View labels, Client clients, std::uint64_t seed) const override {
    std::map<double, std::vector<std::size_t>> classes;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      classes[labels[i]].push_back(i);
      check(classes.size() <= most_classes,
            "partition dirichlet: more than {} distinct labels (it is meant for classes) "
            "choose iid or contiguous",
            most_classes);
    }
    std::vector<Vector> share;
    Vector sizes;
    for (const auto& [label, members] : classes) {
      share.push_back(shares(clients, AddressedRandom(seed, Purpose::partition, share.size(), 0)));
      sizes.push_back(static_cast<double>(members.size()));
    }
    if (balanced_ && !share.empty()) balance(share, sizes);
    std::vector<Client> owner(labels.size());
    std::uint64_t number = 0;
    for (auto& [label, members] : classes) {
      shuffle(members, AddressedRandom(seed, Purpose::partition, number, 1));
      deal(members, share[number], owner);
      ++number;
    }
    return owner;
  }

 private:
  static constexpr std::size_t most_classes = 10000;

  /// One draw of Dir(α, …, α), as normalised gamma variates. Those are Gamma(α + 1)·U^(1/α), kept as logarithms: for
  /// small α all of them would underflow.
  [[nodiscard]] Vector shares(Client clients, AddressedRandom random) const {
    Vector share(static_cast<std::size_t>(clients));
    for (double& s : share) {
      s = std::log(random.gamma(alpha_ + 1));
      s += std::log(random.positive_uniform()) / alpha_;
    }
    const double largest = *std::max_element(share.begin(), share.end());
    double total = 0;
    for (double& s : share) total += s = std::exp(s - largest);
    for (double& s : share) s /= total;
    return share;
  }

  /// Scales clients to equal size and classes back to their own, in turn (iterative proportional fitting; Deming and
  /// Stephan 1940). It ends when sizes are within 0.1 %; extreme skew may leave them further apart.
  static void balance(std::vector<Vector>& share, const Vector& sizes) {
    constexpr int most_turns = 1000;
    constexpr double least_share = 1e-12;  // a client that a class avoids altogether could not be filled from it
    const std::size_t clients = share.front().size();
    double records = 0;
    for (const double size : sizes) records += size;
    const double wanted = records / static_cast<double>(clients);
    for (Vector& row : share) {
      for (double& s : row) s = std::max(s, least_share);
    }
    for (int turn = 0; turn < most_turns; ++turn) {
      double worst = 0;
      for (std::size_t u = 0; u < clients; ++u) {
        double size = 0;
        for (std::size_t k = 0; k < share.size(); ++k) size += share[k][u] * sizes[k];
        worst = std::max(worst, std::abs(size / wanted - 1));
        for (Vector& row : share) row[u] *= wanted / size;
      }
      for (Vector& row : share) {
        double total = 0;
        for (const double s : row) total += s;
        for (double& s : row) s /= total;
      }
      if (worst < 1e-3) break;
    }
  }

  static void deal(const std::vector<std::size_t>& members, const Vector& share, std::vector<Client>& owner) {
    const auto size = static_cast<double>(members.size());
    double cumulative = 0;
    std::size_t from = 0;
    for (std::size_t u = 0; u < share.size(); ++u) {
      cumulative += share[u];
      const bool last = u + 1 == share.size();
      const std::size_t end = last ? members.size() : static_cast<std::size_t>(std::min(cumulative, 1.0) * size);
      for (; from < end; ++from) owner[members[from]] = static_cast<Client>(u);
    }
  }

  double alpha_;
  bool balanced_;
};

std::unique_ptr<Partition> make_dirichlet(const Spec& spec) {
  const double alpha = spec.number("alpha");
  check(alpha >= 1e-6 && alpha <= 1e9,
        "'{}': alpha={} (it must lie between 1e-6 and 1e9; small values skew the classes)", spec.text(), alpha);
  const long long balanced = spec.integer("balanced", 1);
  check(balanced == 0 || balanced == 1, "'{}': balanced={} (it is 0 or 1)", spec.text(), balanced);
  return std::make_unique<Dirichlet>(alpha, balanced == 1);
}

}  // namespace

const Table<Partition>& partition_table() {
  static const Table<Partition> table(
      "partition", {{"contiguous",
                     "equal blocks in file order",
                     {},
                     [](const Spec&) -> std::unique_ptr<Partition> { return std::make_unique<Contiguous>(); }},
                    {"iid",
                     "a random permutation dealt out equally",
                     {},
                     [](const Spec&) -> std::unique_ptr<Partition> { return std::make_unique<Iid>(); }},
                    {"dirichlet",
                     "per class, shares of the clients drawn from a Dirichlet distribution",
                     {{"alpha", "concentration, > 0: large is even, 0.1 leaves most clients with few classes"},
                      {"balanced", "1: clients of about equal size (1); 0: sizes as drawn"}},
                     make_dirichlet}});
  return table;
}

}  // namespace starling
