#include "output/directory/disk_trial.hpp"

#include "hdf5/file.hpp"

namespace starling {

namespace {

/// Numbers that a damaged file would hardly hold.
std::vector<double> content() {
  std::vector<double> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1 / (static_cast<double>(i) + 3);
  return numbers;
}

}  // namespace

void write_trial(const std::string& path) {
  {
    const hdf5::File file(path, hdf5::File::Mode::create);
    const std::vector<double> numbers = content();
    file.write("trial", {numbers.size()}, numbers);
  }
  read_trial(path);
}

void read_trial(const std::string& path) {
  const hdf5::File file(path, hdf5::File::Mode::read);
  check<FailureError>(file.has("trial") && file.read<double>("trial").second == content(),
                      "'{}' does not hold what was written to it: the disk or the network file system is at fault. Try "
                      "another directory.",
                      path);
}

}  // namespace starling
