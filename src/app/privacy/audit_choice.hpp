/// What `starling privacy audit` is asked for, and its options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/links.hpp"
#include "options/options.hpp"
#include "privacy/mechanism.hpp"

namespace starling {

/// Whether one client's release is seen, or the sum over all clients at an aggregator, or the releases of all clients
/// that share noise in pairs.
enum class AuditTrust { none, central, masked, pairs };

struct AuditChoice {
  std::string mechanism;
  std::optional<double> epsilon;
  std::optional<double> mu;
  std::optional<double> delta;
  double clip = 1;
  PrivacyUnit unit = PrivacyUnit::record;
  std::size_t batch = 1;
  std::size_t dimension = 1;
  std::optional<Round> rounds;
  std::optional<std::int64_t> samples;
  AuditTrust trust = AuditTrust::none;
  std::optional<std::int64_t> clients;
  Client colluding = 1;
  std::optional<double> l2;
  std::optional<double> c2;
  std::optional<double> rho;
  std::optional<double> row_norm;
  bool correlated = false;
  std::int64_t epochs = 1;
  bool of_omd = false;
  bool one_run = false;
  bool seeded = false;
  std::uint64_t seed = 1;
  std::optional<std::string> output;
  bool json = false;
  ProgressChoice progress = ProgressChoice::automatic;
};

/// `choice` must outlive the options.
[[nodiscard]] Options audit_options(AuditChoice& choice);

}  // namespace starling
