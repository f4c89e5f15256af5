/// Declarations of the options that several commands have.
#pragma once

#include <string_view>

#include "options/options.hpp"

namespace starling {

/// Bounds that several declarations share.
constexpr long long most_clients = 100'000'000;
constexpr long long most_local_steps = 1'000'000;

/// The shared declaration of an option, with what is different in the command that asks: usually nothing, sometimes the
/// default or the help. Throws FailureError for a name that is not in the catalogue.
[[nodiscard]] Option declared(std::string_view name, Option different = {});
/// Likewise, with a help of its own.
[[nodiscard]] Option declared(std::string_view name, std::string help, Option different);

/// Adds --progress, --config, --print-config and --help to a command that is no run.
void add_last_options(Options& options, ProgressChoice& progress);

}  // namespace starling
