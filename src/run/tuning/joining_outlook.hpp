/// Whether joining pays: the joint model under noise against the models that clients would have alone
/// (docs/methods/learning-rule.md, "Is joining worth it?").
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/columns.hpp"
#include "protocol/decentralized/learning_rule.hpp"
#include "releases/tuned_method.hpp"

namespace starling {

/// Public numbers of a run of a linear model of classes.
struct JoiningFacts {
  double signal_to_noise = 1;    ///< ρ
  std::size_t parameters = 1;    ///< d
  Vector records;                ///< N_u of all clients: records, or persons
  std::optional<double> hiding;  ///< clients that would hide each other by --trust pairs; none: it cannot be taken
  std::string units = "records";
  bool may_be_personal = false;  ///< whether --personal is left to be chosen
};

/// Records without noise to which a model of one client would have to be fitted to be as good as the joint one:
/// 1/(1/(ρ d) + 1/Σ N_u).
[[nodiscard]] double worth_in_records(const JoiningFacts& facts);

/// What joining is expected to do to a client.
enum class Joining { pays, changes_little, costs };
/// For a client with so many records, where the joint model is worth `worth`. With z = x/d, x records teach
/// z²/(1 + z + z²) of what there is to learn, and differences of less than 0.05 are little. A joint model that is worth
/// less than d/2 may be worse than a constant.
[[nodiscard]] Joining expected_of_joining(double records, double worth, std::size_t parameters);

/// Sentences for people who do not know what noise is; empty where there is one client alone.
[[nodiscard]] std::string joining_outlook(const JoiningFacts& facts);
/// The facts of a run whose settings the rule has chosen; none where the yardstick is not measured: own models,
/// networks, more than two classes and labels that are numbers, bounded domains and entropic maps, records that come
/// once, and runs without noise.
[[nodiscard]] std::optional<JoiningFacts> joining_facts(const TunedMethod& method, const RuleFacts& facts,
                                                        const LearningRule& rule, bool replayable);
/// Prints it to stderr, if there is any.
void print_joining(const std::string& outlook);

}  // namespace starling
