#include "core/numerics/standard_numbers.hpp"

#include "core/check.hpp"

namespace starling {

namespace {

bool has_standard_numbers(const std::locale& streams) {
  const auto& format = std::use_facet<std::numpunct<char>>(streams);
  return format.decimal_point() == '.' && format.grouping().empty();
}

/// Sets the locale of new streams. The locale of C functions is then set again to `names`, since std::locale::global
/// changes it too.
void set_streams(const std::locale& streams, const std::string& names) {
  std::locale::global(streams);
  std::setlocale(LC_ALL, names.c_str());
}

}  // namespace

StandardNumbers::StandardNumbers() : point_(newlocale(LC_NUMERIC_MASK, "C", duplocale(uselocale(nullptr)))) {
  check<FailureError>(point_ != nullptr, "the locale C cannot be had: memory may be short. Look at the machine.");
  before_ = uselocale(point_);
  std::fesetenv(FE_DFL_ENV);
  const std::locale streams;
  if (has_standard_numbers(streams)) return;
  program_ = {streams, std::setlocale(LC_ALL, nullptr)};
  set_streams(std::locale(streams, std::locale::classic(), std::locale::numeric), program_->names);
}

StandardNumbers::~StandardNumbers() {
  if (program_) set_streams(program_->streams, program_->names);
  uselocale(before_);
  freelocale(point_);
}

}  // namespace starling
