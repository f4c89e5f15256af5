/// File names in option values of configuration files. Relative names start from the configuration file's own folder.
#pragma once

#include <filesystem>
#include <string>

namespace starling {

/// Function that resolves every relative file name in the value against `folder`. Words, numbers, absolute names and
/// "-" stay unchanged.
using NamedFiles = std::string (*)(const std::string& value, const std::filesystem::path& folder);

namespace named {
std::string file(const std::string& value, const std::filesystem::path& folder);
/// FILE, FEATURES,LABELS, part-{client}.csv, "-", synthetic:NAME or memory:NAME; lists of files too.
std::string source(const std::string& value, const std::filesystem::path& folder);
/// A start or a noise key: FILE, unless the value is one of the option's words.
std::string start(const std::string& value, const std::filesystem::path& folder);
std::string noise_key(const std::string& value, const std::filesystem::path& folder);
/// FILE, or onehot:FILE.
std::string encoding(const std::string& value, const std::filesystem::path& folder);
/// FILE; what begins with values: names no file.
std::string standardisation(const std::string& value, const std::filesystem::path& folder);
/// constant:FILE; other values name no file.
std::string missing(const std::string& value, const std::filesystem::path& folder);
/// FILE, or a model of absences.
std::string absences(const std::string& value, const std::filesystem::path& folder);
/// plugin:FILE, perhaps with :OPTIONS; other values name no file.
std::string model(const std::string& value, const std::filesystem::path& folder);
/// schedule:FILE, clients:FILE, file:FILE, linear:FILE, several of which + may join; other values name no file.
std::string spec(const std::string& value, const std::filesystem::path& folder);
}  // namespace named

}  // namespace starling
