/// The prices of all releases of a run (`--epsilon`, `--mu`): constant, by round, or by client.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "files/round_values.hpp"
#include "privacy/unit.hpp"

namespace starling {

class Prices {
 public:
  /// `text` is what RoundValues::parse takes, or `clients:FILE`, a CSV of (client, value) that names each client once.
  /// Throws UsageError for text that is neither and for values that are not in [least, most].
  [[nodiscard]] static Prices parse(const std::string& text, const std::string& what, Round rounds, Client clients,
                                    double least, double most);

  /// The prices in another measure. `convert` must be monotone increasing.
  [[nodiscard]] Prices converted(std::function<double(double)> convert) const;

  /// The price of client u in round t, both from 0.
  [[nodiscard]] double at(Client u, Round t) const;
  [[nodiscard]] PriceRange range() const;
  /// The prices as text on one line: equal for equal prices.
  [[nodiscard]] std::string text() const;
  /// Whether each client pays the same in all rounds.
  [[nodiscard]] bool constant() const { return !by_client_.empty() || by_round_.constant(); }

 private:
  [[nodiscard]] double convert(double price) const { return convert_ ? convert_(price) : price; }

  RoundValues by_round_;
  std::vector<double> by_client_;          // empty unless prices differ by client
  std::function<double(double)> convert_;  // applied to by_round_
};

}  // namespace starling
