/// Sources that are generators. Internal to the data room.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "starling/data/dataset.hpp"
#include "starling/data/synthetic.hpp"

namespace starling {

/// The loss's own label of a drawn one; an unfit one is a DataError that names the source.
[[nodiscard]] double mapped(const DataSettings& settings, const std::string& source, double label);

}  // namespace starling
