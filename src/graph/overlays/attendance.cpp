// Models of absence that draw. Files are read in attendance_files.cpp.
#include "graph/overlays/attendance.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "graph/families/families.hpp"

namespace starling {

namespace {

AddressedRandom draws_of(std::uint64_t seed, Client u, Round t) {
  return {seed, Purpose::attendance, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(t)};
}

std::string shares_text(const Dropout& dropout) {
  std::string text = fmt::format("seed {} shares", dropout.seed);
  for (const double share : dropout.shares) text += fmt::format(" {}", share);
  return text;
}

/// A stationary chain of two states, good and bad. Of a round's uniform draw U, U < enter turns good into bad and
/// U < stay keeps bad bad. So U < min(enter, stay) makes it bad and U ≥ max(enter, stay) makes it good whatever it was,
/// and what is between keeps it as it was (enter ≤ stay) or changes it (stay < enter): looking back to the last
/// decisive draw tells the state, in 1 / (1 − |stay − enter|) steps on average.
struct Chain {
  double enter = 0;  ///< probability of bad after good
  double stay = 0;   ///< probability of bad after bad
  double share = 0;  ///< of rounds that are bad; the probability of bad in round 0

  /// `draw(t)` is round t's uniform draw.
  template <class Draw>
  [[nodiscard]] bool bad(Round t, Draw draw) const {
    bool changed = false;
    for (; t > 0; --t) {
      const double u = draw(t);
      if (u < std::min(enter, stay)) return !changed;
      if (u >= std::max(enter, stay)) return changed;
      if (stay < enter) changed = !changed;
    }
    return (draw(0) < share) != changed;
  }
};

/// The chain that is bad in this share of rounds, in runs of this mean length.
Chain chain_of(const Spec& spec, double share, double length) {
  if (share <= 0) return {};
  Chain chain;
  chain.share = share;
  chain.stay = 1 - 1 / length;
  chain.enter = share / (1 - share) / length;
  check(chain.enter <= 1,
        "{}: runs of {} rounds on average are too short for a share of {:.4g}: a round between two runs is the least. "
        "Raise length to {:.4g} or more.",
        spec.text(), length, share, share / (1 - share));
  constexpr double longest_look = 1e4;
  const double look = 1 / (1 - std::abs(chain.stay - chain.enter));
  check(share <= 0 || look <= longest_look,
        "{}: with a share of {:.4g} a client would look back over {:.3g} rounds on average to know who is there: at "
        "most {:g}. Change length.",
        spec.text(), share, look, longest_look);
  return chain;
}

double length_of(const Spec& spec) {
  const double length = spec.number("length", 10);
  check(length >= 1 && length <= 1e9, "{}: length={}: a mean number of rounds, from 1. Correct it.", spec.text(),
        length);
  return length;
}

using Made = std::unique_ptr<AbsenceModel>;

/// Absent with one probability in good rounds and with another in bad ones (Gilbert 1960, Elliott 1963).
Made make_chains(const Spec& spec, const Dropout& dropout, double when_good, double when_bad) {
  const double length = length_of(spec);
  std::vector<Chain> chains;
  for (const double share : dropout.shares) {
    check(share >= when_good && share < when_bad,
          "{}: a client that sits out a share of {}: clients sit out {} of the good rounds and {} of the bad ones: the "
          "share must lie between. Change one of them.",
          spec.text(), share, when_good, when_bad);
    chains.push_back(chain_of(spec, (share - when_good) / (when_bad - when_good), length));
  }
  const auto shared = std::make_shared<const std::vector<Chain>>(std::move(chains));
  const auto absent = [shared, seed = dropout.seed, when_good, when_bad](Client u, Round t) {
    const auto draw = [&](Round round) { return draws_of(seed, u, round).uniform(); };
    const bool bad = (*shared)[static_cast<std::size_t>(u)].bad(t, draw);
    AddressedRandom random = draws_of(seed, u, t);
    static_cast<void>(random.uniform());  // the chain's
    return random.uniform() < (bad ? when_bad : when_good);
  };
  const auto text = [=] {
    std::string all = fmt::format("gilbert-elliott good {} bad {} {}", when_good, when_bad, shares_text(dropout));
    for (const Chain& chain : *shared) all += fmt::format(" {} {}", chain.enter, chain.stay);
    return all;
  };
  return std::make_unique<AbsenceModel>(AbsenceModel{absent, text});
}

/// Every round by itself.
Made make_uniform(const Spec&, const Dropout& dropout) {
  const auto shared = std::make_shared<const Dropout>(dropout);
  const auto absent = [shared](Client u, Round t) {
    return draws_of(shared->seed, u, t).uniform() < shared->shares[static_cast<std::size_t>(u)];
  };
  return std::make_unique<AbsenceModel>(AbsenceModel{absent, [shared] { return "uniform " + shares_text(*shared); }});
}

Made make_gilbert_elliott(const Spec& spec, const Dropout& dropout) {
  return make_chains(spec, dropout, families::probability(spec, "good", 0), families::probability(spec, "bad", 0.9));
}

/// Bad rounds are the absent ones.
Made make_markov(const Spec& spec, const Dropout& dropout) {
  return make_chains(spec, dropout, 0, 1);
}

}  // namespace

const AbsenceTable& absence_table() {
  static const AbsenceTable table(
      "model of dropout",
      {
          {"uniform", "each client and round by itself", {}, make_uniform},
          {"gilbert-elliott",
           "hidden good and bad spells, with a probability of sitting out in each",
           {{"length", "mean rounds of a bad spell (10)"},
            {"good", "probability of sitting out a good round (0)"},
            {"bad", "the same of a bad round (0.9)"}},
           make_gilbert_elliott},
          {"markov", "absences come in runs", {{"length", "mean rounds of a run (10)"}}, make_markov},
      });
  return table;
}

}  // namespace starling
