/// Configuration of `starling doctor`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "console/command.hpp"
#include "core/links.hpp"

namespace starling {

struct DoctorConfig {
  std::optional<std::string> topology;
  std::optional<Client> clients;
  std::optional<Client> clients_per_rank;
  std::size_t dimension = 1000;  ///< of models
  double seconds = 60;           ///< for timing all edges
  std::string output = ".";
  std::optional<std::string> predict;  ///< as parse_launch reads it; nothing else is done then
  bool json = false;
  double watchdog = 60;  ///< seconds

  /// The effective configuration as a file for --config.
  std::string text;
  std::string as_given;  ///< the same with names of files as the user gave them
};

[[nodiscard]] Options doctor_options(DoctorConfig& config);
/// Throws UsageError.
[[nodiscard]] DoctorConfig parse_doctor_config(const std::vector<std::string>& words);
[[nodiscard]] Manual doctor_manual();

}  // namespace starling
