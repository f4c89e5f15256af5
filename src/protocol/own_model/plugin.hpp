/// Own models from shared libraries, for `--model plugin:FILE`.
#pragma once

#include <memory>
#include <string>

#include "protocol/own_model/own_model.hpp"

namespace starling {

/// Loads a shared library that keeps to <starling/plugin.h>, and makes its model with these options. The model's
/// identity is the digest of the file and the options. Throws UsageError for a file that is no such library, for one
/// that was made for another version of the header, for a model without the functions that it needs, and if the
/// library refuses the options.
[[nodiscard]] std::shared_ptr<OwnModel> open_plugin(const std::string& path, const std::string& options);

}  // namespace starling
