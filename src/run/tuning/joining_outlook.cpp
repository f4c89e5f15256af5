#include "joining_outlook.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/numerics/kernels.hpp"
#include "files/tell_user.hpp"
#include "privacy/unit.hpp"
#include "run/settings/model_choice.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

namespace {

constexpr double little_of_what_can_be_learned = 0.05;
constexpr double least_worth = 0.5;  // records for each parameter

/// Two significant digits: the yardstick knows no more.
std::string rounded(double records) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(records, 1.0))) - 1));
  return fmt::format("{:.0f}", unit * std::round(records / unit));
}

const char* in_words(Joining joining) {
  if (joining == Joining::pays) return "to gain by joining";
  return joining == Joining::costs ? "to do better alone" : "to do about as well alone";
}

/// The number of clients of which each is expected.
std::array<std::size_t, 3> counts_of(const JoiningFacts& facts, double worth) {
  std::array<std::size_t, 3> counts{};
  for (const double own : facts.records)
    ++counts[static_cast<std::size_t>(expected_of_joining(own, worth, facts.parameters))];
  return counts;
}

std::string verdict(const JoiningFacts& facts, const std::array<std::size_t, 3>& counts) {
  const auto [least, most] = std::ranges::minmax(facts.records);
  const std::string own = least == most ? fmt::format("{:.0f}", least) : fmt::format("{:.0f} to {:.0f}", least, most);
  std::string text = fmt::format("A client has {} of its own", own);
  for (const Joining each : {Joining::pays, Joining::changes_little, Joining::costs}) {
    const std::size_t count = counts[static_cast<std::size_t>(each)];
    if (count == facts.records.size()) return text + ": expect it " + in_words(each);
    if (count > 0) text += fmt::format("{} {} {}", text.ends_with("own") ? ": expect" : ",", count, in_words(each));
  }
  return text;
}

}  // namespace

double worth_in_records(const JoiningFacts& facts) {
  return 1 / (1 / (facts.signal_to_noise * static_cast<double>(facts.parameters)) + 1 / sum(facts.records));
}

Joining expected_of_joining(double records, double worth, std::size_t parameters) {
  const auto d = static_cast<double>(parameters);
  if (records == 0) return Joining::pays;
  if (worth < least_worth * d) return Joining::costs;
  const auto learned = [](double z) { return z * z / (1 + z + z * z); };
  const double gain = learned(worth / d) - learned(records / d);
  if (std::abs(gain) < little_of_what_can_be_learned) return Joining::changes_little;
  return gain > 0 ? Joining::pays : Joining::costs;
}

std::string joining_outlook(const JoiningFacts& facts) {
  if (facts.records.size() < 2 || sum(facts.records) == 0 || facts.signal_to_noise <= 0) return "";
  const double worth = worth_in_records(facts);
  const auto counts = counts_of(facts, worth);
  std::string text = fmt::format("if clients are alike, the joint model is worth one of about {} {} without noise. {}",
                                 rounded(worth), facts.units, verdict(facts, counts));
  if (counts[static_cast<std::size_t>(Joining::pays)] == facts.records.size()) return text;
  if (facts.hiding.value_or(1) > 1) {
    JoiningFacts pairs = facts;
    pairs.signal_to_noise *= std::sqrt(*facts.hiding);
    text += fmt::format(". With --trust pairs it would be worth {}", rounded(worth_in_records(pairs)));
  }
  if (facts.may_be_personal) text += ". By --personal each client's own records choose between the two";
  return text;
}

std::optional<JoiningFacts> joining_facts(const TunedMethod& method, const RuleFacts& facts, const LearningRule& rule,
                                          bool replayable) {
  const TunedConfig& config = method.config;
  const bool measured = config.model.kind == ModelChoice::Kind::linear && facts.classifies && facts.scores == 1 &&
                        facts.noise == ChargeKind::gaussian && facts.map.is_euclidean() && std::isinf(facts.room);
  if (!measured || !replayable || !method.records_of_clients) return std::nullopt;
  return JoiningFacts{.signal_to_noise = signal_to_noise(facts, rule),
                      .parameters = facts.dimension,
                      .records = method.records_of_clients(),
                      .hiding = method.hiding_of_pairs,
                      .units = config.privacy.unit == PrivacyUnit::person ? "persons" : "records",
                      .may_be_personal = !config.personal};
}

void print_joining(const std::string& outlook) {
  if (!outlook.empty()) tell_user("joining: {}\n", outlook);
}

}  // namespace starling
