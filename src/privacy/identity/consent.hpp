/// The consent of an owner: limits to the options of runs that its clients take part in (docs/methods/identities.md,
/// "Consent").
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// What a consent is compared with.
struct RunTerms {
  std::map<std::string, std::string> options;  ///< values by name, without dashes; options without a value are missing
  Client clients = 0;                          ///< that are there
  std::string members;                         ///< fingerprint of the list of members
};

/// The options of a configuration file: `key = value` lines.
[[nodiscard]] std::map<std::string, std::string> options_in(const std::string& configuration);

/// A list of limits, in the syntax of a configuration file. A key is the name of an option, whose value must be one of
/// those listed (of NAME:PARAMETERS the name may be); `never-OPTION`, whose value must be none of them; or
/// `most-OPTION` and `least-OPTION`, bounds of a number, which the run must then state. `least-clients`, `members` (a
/// fingerprint) and `code` (SHA-256 of the program's file) are compared with the run itself.
class Consent {
 public:
  /// Throws UsageError that names the line.
  [[nodiscard]] static Consent parse(const std::string& text, const std::string& place);
  /// Throws UsageError that names the first line with which the run does not agree.
  void require(const RunTerms& run) const;

 private:
  struct Limit {
    enum class Kind { one_of, none_of, most, least };
    Kind kind = Kind::one_of;
    std::string option;
    std::string value;
    std::size_t line = 0;
    std::string text;  ///< of the line
  };
  [[nodiscard]] static Limit limit_of(const std::string& key, const std::string& value);
  [[nodiscard]] static bool holds(const Limit& limit, const std::string& found);

  std::string place_;
  std::vector<Limit> limits_;
};

/// The name of the consent file beside an identity: NAME.consent beside NAME.key.
[[nodiscard]] std::string consent_file(const std::string& identity);

}  // namespace starling
