/// Values of options that name files, in configuration files: relative names there start from the file's own folder.
#pragma once

#include <filesystem>
#include <string>

namespace starling {

/// The value with every relative name of a file in it beginning from `folder`; words, numbers, absolute names and "-"
/// stay as they are.
using NamedFiles = std::string (*)(const std::string& value, const std::filesystem::path& folder);

namespace named {
std::string file(const std::string& value, const std::filesystem::path& folder);
/// FILE, FEATURES,LABELS, part-{client}.csv, "-" or synthetic:NAME; lists of files too.
std::string source(const std::string& value, const std::filesystem::path& folder);
/// A start, a noise key: FILE, unless it is one of their words.
std::string start(const std::string& value, const std::filesystem::path& folder);
std::string noise_key(const std::string& value, const std::filesystem::path& folder);
/// FILE, or a model of absences.
std::string absences(const std::string& value, const std::filesystem::path& folder);
/// schedule:FILE, clients:FILE, file:FILE, linear:FILE, several of which + may join; other values name no file.
std::string spec(const std::string& value, const std::filesystem::path& folder);
}  // namespace named

}  // namespace starling
