// `starling privacy calibrate`.
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/mechanism.hpp"
#include "release_terms.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

struct Calibrate {
  std::string mechanism;
  std::optional<double> epsilon;
  std::optional<double> mu;
  double delta = 1e-5;
  std::int64_t releases = 1;
  double sensitivity = 1;
  bool json = false;
  [[nodiscard]] bool gaussian() const { return is_gaussian(mechanism); }
};

/// The mechanisms whose noise has a scale that can be calculated.
std::vector<std::string> calibrated() {
  std::vector<std::string> names;
  for (const MechanismRow& row : mechanism_table().rows()) {
    if (row.protects() && row.divisible()) names.push_back(row.name);
  }
  return names;
}

Options calibrate_options(Calibrate& calibrate) {
  constexpr double tiny = std::numeric_limits<double>::min();
  Options options("privacy calibrate");
  options.group("Noise");
  options.add(declared("mechanism", "laplace or gaussian", {.words = calibrated()}), calibrate.mechanism);
  options.add(declared("sensitivity", {.initial = "1"}), calibrate.sensitivity);
  options.group("Limit");
  options.add(declared("epsilon", "loss of all releases together", {.range = {tiny, 1e9}}), calibrate.epsilon);
  options.add(declared("delta", "probability with which it may be exceeded; 0 for laplace: pure losses add up",
                       {.initial = "1e-5"}),
              calibrate.delta);
  options.add(
      declared("mu", "for gaussian, in place of --epsilon: mu of all releases together", {.range = {tiny, 1e9}}),
      calibrate.mu);
  options.add(declared("releases"), calibrate.releases);
  options.add(
      declared(
          "json",
          {.help =
               "print one JSON object: mechanism, sigma and mu or scale and epsilon_per_release, and what all releases "
               "come to: epsilon, delta, total_mu, method, releases, sensitivity"}),
      calibrate.json);
  options.add(declared("help"));
  return options;
}

void check_limit(const Calibrate& calibrate) {
  check(!calibrate.mechanism.empty(), "--mechanism is missing: which noise? Give laplace or gaussian.");
  check(calibrate.epsilon || calibrate.mu,
        "neither --epsilon nor --mu: the loss of all releases together has to be known. Give one of them.");
  check(!calibrate.mu || calibrate.gaussian(),
        "--mu under laplace: it is a measure of Gaussian noise. Give --epsilon and --delta.");
  check(!calibrate.gaussian() || calibrate.delta > 0,
        "--delta 0 under gaussian: no finite epsilon holds with it. Give a small one, such as 1e-5.");
}

/// The loss by all releases with this noise.
PrivacyLoss loss_with(const Calibrate& calibrate, double noise) {
  const double each = ratio_rounded_up(calibrate.sensitivity, noise);
  const std::array<ChargeGroup, 1> group{
      {{calibrate.gaussian() ? Charge::gaussian(each) : Charge::laplace(each), calibrate.releases}}};
  return compose(group, calibrate.delta);
}

bool within(const Calibrate& calibrate, const PrivacyLoss& loss) {
  return calibrate.mu ? loss.mu.value_or(infinity) <= *calibrate.mu : loss.epsilon <= *calibrate.epsilon;
}

double largest_share(const Calibrate& calibrate) {
  if (calibrate.mu) return largest_gaussian_mu(*calibrate.mu, calibrate.releases);
  if (calibrate.gaussian()) return largest_gaussian_mu(*calibrate.epsilon, calibrate.delta, calibrate.releases);
  return largest_laplace_epsilon(*calibrate.epsilon, calibrate.delta, calibrate.releases);
}

/// Twelve digits, not less.
double shortened(double noise) {
  const double near = std::stod(fmt::format("{:.12g}", noise));
  if (near >= noise) return near;
  const double last_digit = std::pow(10.0, std::floor(std::log10(noise)) - 11);
  return std::stod(fmt::format("{:.12g}", noise + last_digit));
}

/// The noise in few digits, so that the user can type the number. The printed number is the one that was checked.
double least_noise(const Calibrate& calibrate) {
  double noise = shortened(calibrate.sensitivity / largest_share(calibrate));
  double more = 1e-11;  // twice as much at each step: figures of neighbouring noises may differ by 1e-6 the wrong way
  for (; !within(calibrate, loss_with(calibrate, noise)); more *= 2) {
    check<FailureError>(std::isfinite(noise) && more < 1, "no noise was found that stays within the limit");
    noise = shortened(noise * (1 + more));
  }
  return noise;
}

nlohmann::json to_json(const Calibrate& calibrate, double noise, const PrivacyLoss& loss) {
  const double share = ratio_rounded_up(calibrate.sensitivity, noise);
  nlohmann::json result{{"mechanism", calibrate.mechanism},
                        {"sensitivity", calibrate.sensitivity},
                        {"releases", calibrate.releases},
                        {"epsilon", loss.epsilon},
                        {"delta", loss.delta},
                        {"method", loss.method}};
  result[calibrate.gaussian() ? "sigma" : "scale"] = noise;
  result[calibrate.gaussian() ? "mu" : "epsilon_per_release"] = share;
  if (loss.mu) result["total_mu"] = *loss.mu;
  return result;
}

std::string table_of(const Calibrate& calibrate, double noise, const PrivacyLoss& loss) {
  const bool gaussian = calibrate.gaussian();
  const auto line = [](const char* name, const std::string& value) { return fmt::format("{:<20} {}\n", name, value); };
  std::string text =
      line(gaussian ? "sigma" : "scale", fmt::format("{}", noise)) +
      line(gaussian ? "mu" : "epsilon_per_release", fmt::format("{}", ratio_rounded_up(calibrate.sensitivity, noise)));
  text += fmt::format("{} of it, for a sensitivity of {}, come to epsilon = {:.9g} at delta = {} ({}).\n",
                      calibrate.releases == 1 ? "One release" : fmt::format("{} releases", calibrate.releases),
                      calibrate.sensitivity, loss.epsilon, loss.delta, loss.method);
  return text;
}

Manual calibrate_manual() {
  return {.usage =
              "--mechanism NAME --epsilon E [OPTIONS]\n"
              "--mechanism gaussian --mu M [OPTIONS]",
          .text =
              "Finds the least noise with which K releases that one record enters cost it no more than the limit, by "
              "the best accountant of `starling privacy spend`. Prints the scale of Laplace noise or the standard "
              "deviation of Gaussian noise, rounded towards more noise (within 1e-5 of the least), and what a release "
              "then costs (--epsilon or --mu of starling omd): given back to spend, either stays within the limit. "
              "Exit codes: 0 done; 2 usage.",
          .examples = {
              "starling privacy calibrate --mechanism laplace --epsilon 1 --delta 1e-4 --releases 500",
              "starling privacy calibrate --mechanism gaussian --epsilon 2 --delta 1e-6 --releases 100 --sensitivity 2",
              "starling privacy calibrate --mechanism gaussian --mu 1 --releases 100 --json"}};
}

int run_calibrate(const Call& call) {
  const auto calibrate = parsed<Calibrate, calibrate_options>(call.words);
  check_limit(calibrate);
  const double noise = least_noise(calibrate);
  const PrivacyLoss loss = loss_with(calibrate, noise);
  print(calibrate.json ? to_json(calibrate, noise, loss).dump() + '\n' : table_of(calibrate, noise, loss));
  return 0;
}

}  // namespace

Command privacy_calibrate_command() {
  return command_of<Calibrate, calibrate_options>("calibrate", "the least noise whose releases stay within a loss",
                                                  calibrate_manual, run_calibrate);
}

}  // namespace starling
