// Gives every file of a corpus to a fuzz target once, without libFuzzer: replay FOLDER...
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "target.hpp"

namespace {

using Paths = std::vector<std::filesystem::path>;

Paths files_of(int argc, char** argv) {
  Paths paths;
  for (int k = 1; k < argc; ++k) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[k])) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void replay(const std::filesystem::path& path) {
  std::printf("%s\n", path.filename().c_str());
  std::fflush(stdout);  // the last line says which input ended the process
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Paths paths = files_of(argc, argv);
    for (const auto& path : paths) replay(path);
    const std::size_t read = starling::fuzz::answers_without_error();
    LLVMFuzzerTestOneInput(nullptr, 0);
    std::printf("%zu inputs, %zu times read without error\n", paths.size(), read);
    return read > 0 ? 0 : 1;  // a corpus of which nothing is read tests nothing
  } catch (const std::exception& error) {
    std::printf("FINDING: an exception of another kind: %s\n", error.what());
    return 1;
  }
}
