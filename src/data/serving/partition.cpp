#include "data/serving/partition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/check.hpp"
#include "core/random.hpp"
#include "data/fingerprint.hpp"

namespace starling {

namespace {

/// Fisher and Yates.
template <class T>
void shuffle(std::vector<T>& items, AddressedRandom random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

/// Start of client u's block of `records`: ⌈u·N/n⌉, so that record i of N goes to client ⌊i·n/N⌋.
std::int64_t block_start(std::int64_t records, Client clients, Client u) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(u) * records + clients - 1) / clients);
}

/// Equal blocks in file order. This partition needs no list of records.
class Contiguous final : public Partition {
 public:
  [[nodiscard]] std::vector<Client> assign(const Found& found, Client clients, std::uint64_t /*seed*/) const override {
    std::vector<Client> owner;
    owner.reserve(static_cast<std::size_t>(found.records));
    for (Client u = 0; u < clients; ++u) {
      owner.resize(static_cast<std::size_t>(block_start(found.records, clients, u + 1)), u);
    }
    return owner;
  }
  [[nodiscard]] Deal deal(const Found& found, Client clients, Client first, Client count,
                          std::uint64_t /*seed*/) const override {
    Deal result;
    for (Client u = 0; u < clients; ++u) {
      const std::int64_t from = block_start(found.records, clients, u);
      const std::int64_t size = block_start(found.records, clients, u + 1) - from;
      result.sizes.push_back(size);
      if (u >= first && u < first + count) result.shares.emplace_back().add(from, size);
    }
    return result;
  }
};

/// Record i goes to client i mod n: all clients go through a source that is ordered in time at the same pace.
class RoundRobin final : public Partition {
 public:
  [[nodiscard]] std::vector<Client> assign(const Found& found, Client clients, std::uint64_t /*seed*/) const override {
    std::vector<Client> owner(static_cast<std::size_t>(found.records));
    for (std::size_t i = 0; i < owner.size(); ++i) {
      owner[i] = static_cast<Client>(i % static_cast<std::size_t>(clients));
    }
    return owner;
  }
};

/// A random permutation, dealt out like cards: sizes differ by at most one.
class Iid final : public Partition {
 public:
  [[nodiscard]] std::vector<Client> assign(const Found& found, Client clients, std::uint64_t seed) const override {
    std::vector<std::int64_t> order(static_cast<std::size_t>(found.records));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    shuffle(order, AddressedRandom(seed, Purpose::partition, 0, 0));
    std::vector<Client> owner(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      owner[static_cast<std::size_t>(order[k])] = static_cast<Client>(k % static_cast<std::size_t>(clients));
    }
    return owner;
  }
};

/// Sorted by label, cut into K shards per client, K shards dealt to each at random: with small K a client has few
/// classes (McMahan et al. 2017, Communication-efficient learning of deep networks from decentralized data).
class Shards final : public Partition {
 public:
  explicit Shards(std::int64_t per_client) : per_client_(per_client) {}
  [[nodiscard]] Look looks_at() const override { return Look::labels; }
  [[nodiscard]] std::vector<Client> assign(const Found& found, Client clients, std::uint64_t seed) const override {
    check(per_client_ <= found.records / clients,
          "partition shards: {} shards for each of {} clients: {} records are fewer than shards. Give fewer.",
          per_client_, clients, found.records);
    std::vector<std::int64_t> order(found.labels.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&found](std::int64_t a, std::int64_t b) {
      return found.labels[static_cast<std::size_t>(a)] < found.labels[static_cast<std::size_t>(b)];
    });
    const auto shards = static_cast<Client>(per_client_ * clients);
    std::vector<Client> owner_of_shard(static_cast<std::size_t>(shards));
    for (std::size_t k = 0; k < owner_of_shard.size(); ++k) {
      owner_of_shard[k] = static_cast<Client>(k % static_cast<std::size_t>(clients));
    }
    shuffle(owner_of_shard, AddressedRandom(seed, Purpose::partition, 0, 0));
    std::vector<Client> owner(order.size());
    for (Client k = 0; k < shards; ++k) {
      const std::int64_t end = block_start(found.records, shards, k + 1);
      for (std::int64_t i = block_start(found.records, shards, k); i < end; ++i) {
        owner[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] =
            owner_of_shard[static_cast<std::size_t>(k)];
      }
    }
    return owner;
  }

 private:
  std::int64_t per_client_;
};

/// Partition by the values of a column. With as many values as clients, each client has one value. With more values, a
/// client has neighbouring values.
class ByColumn final : public Partition {
 public:
  explicit ByColumn(std::string column) : column_(std::move(column)) {}
  [[nodiscard]] Look looks_at() const override { return Look::keys; }
  [[nodiscard]] std::string key() const override { return column_; }
  [[nodiscard]] std::vector<Client> assign(const Found& found, Client clients, std::uint64_t /*seed*/) const override {
    const auto values = static_cast<std::int64_t>(found.values.size());
    check(found.records == 0 || values >= clients,
          "partition column: column '{}' has {} values for {} clients: some client would have no records. Take {} "
          "clients or fewer.",
          column_, values, clients, values);
    std::vector<Client> owner;
    owner.reserve(found.keys.size());
    for (const std::int32_t key : found.keys) {
      owner.push_back(static_cast<Client>(std::int64_t{key} * clients / values));
    }
    return owner;
  }

 private:
  std::string column_;
};

/// Partition from a file that `--save-partition` has written.
class FromFile final : public Partition {
 public:
  explicit FromFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] std::vector<Client> assign(const Found& found, Client clients, std::uint64_t /*seed*/) const override {
    return read_owners(path_, found.records, clients);
  }

 private:
  std::string path_;
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

  [[nodiscard]] Look looks_at() const override { return Look::labels; }
  [[nodiscard]] std::vector<Client> assign(const Found& found, Client clients, std::uint64_t seed) const override {
    const Vector& labels = found.labels;
    std::map<double, std::vector<std::size_t>> classes;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      classes[labels[i]].push_back(i);
      check(classes.size() <= most_classes,
            "partition dirichlet: more than {} distinct labels: it is meant for classes. Choose iid or contiguous.",
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
      deal_class(members, share[number], owner);
      ++number;
    }
    return owner;
  }

 private:
  static constexpr std::size_t most_classes = 10000;

  /// One draw of Dir(α, …, α), as normalised gamma variates. The variates are Gamma(α + 1)·U^(1/α), kept as logarithms:
  /// for small α all variates would underflow.
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
  /// Stephan 1940). The fitting ends when sizes are within 0.1 %; extreme skew may leave sizes further apart.
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

  static void deal_class(const std::vector<std::size_t>& members, const Vector& share, std::vector<Client>& owner) {
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
        "'{}': alpha={}: it must lie between 1e-6 and 1e9; small values skew the classes.", spec.text(), alpha);
  const long long balanced = spec.integer("balanced", 1);
  check(balanced == 0 || balanced == 1, "'{}': balanced={}: it is 0 or 1.", spec.text(), balanced);
  return std::make_unique<Dirichlet>(alpha, balanced == 1);
}

std::unique_ptr<Partition> make_shards(const Spec& spec) {
  const long long shards = spec.integer("shards");
  check(shards >= 1 && shards <= 1'000'000, "'{}': shards={}: a client has at least one, and at most a million.",
        spec.text(), shards);
  return std::make_unique<Shards>(shards);
}

}  // namespace

void Share::add(std::int64_t first, std::int64_t count) {
  if (count == 0) return;
  if (!runs_.empty() && runs_.back().first + runs_.back().count == first)
    runs_.back().count += count;
  else
    runs_.push_back({first, count});
  size_ += count;
}

Deal Partition::deal(const Found& found, Client clients, Client first, Client count, std::uint64_t seed) const {
  const std::vector<Client> owner = assign(found, clients, seed);
  Deal result{std::vector<std::int64_t>(static_cast<std::size_t>(clients)),
              std::vector<Share>(static_cast<std::size_t>(count)), ""};
  Fingerprint fingerprint;
  for (const Client u : owner) fingerprint.add(static_cast<std::uint64_t>(u));
  result.fingerprint = fingerprint.text();
  for (std::size_t i = 0; i < owner.size(); ++i) {
    ++result.sizes[static_cast<std::size_t>(owner[i])];
    if (owner[i] < first || owner[i] >= first + count) continue;
    result.shares[static_cast<std::size_t>(owner[i] - first)].add(static_cast<std::int64_t>(i));
  }
  return result;
}

const Table<Partition>& partition_table() {
  static const Table<Partition> table(
      "partition", {{"contiguous",
                     "equal blocks in file order",
                     {},
                     [](const Spec&) -> std::unique_ptr<Partition> { return std::make_unique<Contiguous>(); }},
                    {"round-robin",
                     "record i to client i mod n: a source that is ordered in time stays so for all",
                     {},
                     [](const Spec&) -> std::unique_ptr<Partition> { return std::make_unique<RoundRobin>(); }},
                    {"iid",
                     "a random permutation dealt out equally",
                     {},
                     [](const Spec&) -> std::unique_ptr<Partition> { return std::make_unique<Iid>(); }},
                    {"shards",
                     "sorted by label and cut; each client gets some shards at random, and so few classes",
                     {{"shards", "shards per client"}},
                     make_shards},
                    {"dirichlet",
                     "per class, shares of the clients drawn from a Dirichlet distribution",
                     {{"alpha", "concentration, > 0: large is even, 0.1 leaves most clients with few classes"},
                      {"balanced", "1: clients of about equal size (1); 0: sizes as drawn"}},
                     make_dirichlet},
                    {"column",
                     "by the values of a column (a person, a site): ascending values to ascending clients",
                     {{"name", "name or number (from 0) of the column, which is then not a feature"}},
                     [](const Spec& spec) -> std::unique_ptr<Partition> {
                       return std::make_unique<ByColumn>(spec.require("name"));
                     }},
                    {"file",
                     "as --save-partition wrote it: a line `record,client` for each record",
                     {{"path", "the file"}},
                     [](const Spec& spec) -> std::unique_ptr<Partition> {
                       return std::make_unique<FromFile>(spec.require("path"));
                     }}});
  return table;
}

}  // namespace starling
