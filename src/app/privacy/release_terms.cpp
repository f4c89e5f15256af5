#include "release_terms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"
#include "files/text.hpp"
#include "files/text_files.hpp"
#include "options/options.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/mechanism.hpp"

namespace starling {

namespace {

struct Term {
  const char* name;
  std::optional<double> ReleaseTerms::*value;
};
constexpr std::array terms_by_name{
    Term{"epsilon", &ReleaseTerms::epsilon},
    Term{"mu", &ReleaseTerms::mu},
    Term{"sigma", &ReleaseTerms::sigma},
    Term{"scale", &ReleaseTerms::scale},
    Term{"sensitivity", &ReleaseTerms::sensitivity},
    Term{"delta", &ReleaseTerms::delta},
    Term{"rounds", &ReleaseTerms::rounds},
};

/// A kind of release, and the terms that describe it.
struct Kind {
  std::string mechanism;
  std::vector<std::string> one_of;  ///< exactly one of these
  std::vector<std::string> also;    ///< may stand beside it
  std::function<Charge(const ReleaseTerms&)> charge;
};

double positive(std::optional<double> value, const char* name) {
  check(value && *value > 0 && std::isfinite(*value), "{}={}: it must be positive and finite.", name,
        value.value_or(std::nan("")));
  return *value;
}

double loss(std::optional<double> value, const char* name) {
  check(value && *value >= 0, "{}={}: a loss is at least 0.", name, value.value_or(std::nan("")));
  return *value;
}

double sensitivity(const ReleaseTerms& terms) {
  return positive(terms.sensitivity.value_or(1), "sensitivity");
}

Charge laplace_charge(const ReleaseTerms& terms) {
  if (terms.epsilon) return Charge::laplace(loss(terms.epsilon, "epsilon"));
  return Charge::laplace(ratio_rounded_up(sensitivity(terms), positive(terms.scale, "scale")));
}

Charge gaussian_charge(const ReleaseTerms& terms) {
  if (terms.mu) return Charge::gaussian(loss(terms.mu, "mu"));
  if (terms.sigma) return Charge::gaussian(ratio_rounded_up(sensitivity(terms), positive(terms.sigma, "sigma")));
  check(terms.delta && *terms.delta > 0 && *terms.delta < 1,
        "epsilon of gaussian at delta={}: no finite epsilon holds without a delta. Give one between 0 and 1, or mu, or "
        "sigma.",
        terms.delta.value_or(0));
  // gaussian_mu errs towards less μ, by what its curve may err in δ; a charge must err towards more.
  constexpr double error_in_delta = 4e-17;
  return Charge::gaussian(
      gaussian_mu(loss(terms.epsilon, "epsilon"), std::min(*terms.delta + error_in_delta, 0.9999999)));
}

/// The charge that the mechanism itself states.
Charge charge_of_mechanism(const MechanismRow& row, const ReleaseTerms& terms) {
  ReleaseSettings settings;
  if (row.depends_on_rounds) {
    const double rounds = terms.rounds.value_or(0);
    check(rounds >= 2 && rounds <= static_cast<double>(most_whole) && rounds == std::floor(rounds),
          "rounds={} of {}: its noise depends on the number of rounds. Give them, from 2 on.", rounds, row.name);
    settings.rounds = static_cast<Round>(rounds);
  }
  const double price = row.protects() ? positive(terms.epsilon, "epsilon") : 1;
  settings.price = PriceRange::of(price);
  return row.make(Spec::parse(row.name), settings)->charge(price);
}

Charge approximate(const ReleaseTerms& terms) {
  check(terms.delta && *terms.delta >= 0 && *terms.delta <= 1,
        "delta={} of approximate: the probability with which a release fails is needed.",
        terms.delta.value_or(std::nan("")));
  return Charge::approximate(loss(terms.epsilon, "epsilon"), *terms.delta);
}

Kind kind_of_mechanism(const MechanismRow& row) {
  if (row.charge == ChargeKind::laplace) return {row.name, {"epsilon", "scale"}, {"sensitivity"}, laplace_charge};
  if (row.gaussian()) return {row.name, {"mu", "sigma", "epsilon"}, {"sensitivity", "delta"}, gaussian_charge};
  Kind kind{row.name, {}, {}, [&row](const ReleaseTerms& terms) { return charge_of_mechanism(row, terms); }};
  if (row.protects()) kind.one_of = {"epsilon"};
  if (row.depends_on_rounds) kind.also = {"rounds"};
  return kind;
}

/// The mechanisms, and what is known of others by their losses alone.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> list;
    for (const MechanismRow& row : mechanism_table().rows()) list.push_back(kind_of_mechanism(row));
    list.push_back({"pure", {"epsilon"}, {}, [](const ReleaseTerms& terms) {
                      return Charge::pure(loss(terms.epsilon, "epsilon"));
                    }});
    list.push_back({"approximate", {"epsilon"}, {"delta"}, approximate});
    return list;
  }();
  return all;
}

const Kind& kind_of(const std::string& mechanism) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) {
    if (mechanism == kind.mechanism) return kind;
    names.emplace_back(kind.mechanism);
  }
  throw UsageError(unknown_name("mechanism", mechanism, names));
}

bool contains(const std::vector<std::string>& names, const char* name) {
  return std::ranges::find(names, name) != names.end();
}

void check_terms(const ReleaseTerms& terms, const Kind& kind) {
  int given = 0;
  for (const Term& term : terms_by_name) {
    if (!(terms.*term.value)) continue;
    const bool main = contains(kind.one_of, term.name);
    given += main ? 1 : 0;
    check(main || contains(kind.also, term.name),
          "{} of a release has no meaning under {}: it takes {}{}{}. Leave it out.", term.name, kind.mechanism,
          kind.one_of.empty() ? "nothing" : fmt::format("{}", fmt::join(kind.one_of, ", ")),
          kind.also.empty() ? "" : ", ", fmt::join(kind.also, ", "));
  }
  check(kind.one_of.empty() || given == 1, "{} of {} given under {}: they say what a release costs. Give one of them.",
        given == 0 ? "none" : "several", fmt::join(kind.one_of, ", "), kind.mechanism);
  const bool noise = terms.sigma || terms.scale;
  check(!terms.sensitivity || noise, "sensitivity without {}: a loss has it in already. Leave it out.",
        contains(kind.one_of, "scale") ? "scale" : "sigma");
}

// Files.

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (const std::string_view cell : split_list_at(line, ",")) cells.push_back(text_of_part(trimmed(cell)));
  return cells;
}

void check_header(const std::vector<std::string>& names, const std::string& where) {
  std::vector<std::string> known{"mechanism", "releases"};
  for (const Term& term : terms_by_name) known.emplace_back(term.name);
  for (const std::string& name : names) {
    check(std::ranges::find(known, name) != known.end(), "{}: {}", where, unknown_name("column", name, known));
    check(std::ranges::count(names, name) == 1, "{}: column '{}' stands twice", where, name);
  }
  for (const char* needed : {"mechanism", "releases"}) {
    check(contains(names, needed), "{}: no column '{}': the first line names the columns. Add it.", where, needed);
  }
}

ChargeGroup group_of(const std::vector<std::string>& names, const std::vector<std::string>& cells,
                     const std::string& where) {
  check(cells.size() == names.size(), "{}: {} cells: the header has {}.", where, cells.size(), names.size());
  std::map<std::string, std::string> row;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!cells[i].empty()) row[names[i]] = cells[i];
  }
  ReleaseTerms terms;
  terms.mechanism = row["mechanism"];
  for (const Term& term : terms_by_name) {
    if (row.contains(term.name)) terms.*term.value = parse_number(row[term.name], where + ": " + term.name);
  }
  const long long releases = parse_integer(row["releases"], where + ": releases");
  check(releases >= 0 && releases <= most_whole, "{}: {} releases: 0 to {} are possible.", where, releases, most_whole);
  return {charge_of(terms, where), releases};
}

}  // namespace

bool is_gaussian(const std::string& mechanism) {
  const auto& rows = mechanism_table().rows();
  return std::ranges::any_of(rows, [&](const MechanismRow& row) { return row.name == mechanism && row.gaussian(); });
}

double ratio_rounded_up(double a, double b) {
  const double ratio = a / b;
  return std::fma(ratio, b, -a) < 0 ? std::nextafter(ratio, std::numeric_limits<double>::infinity()) : ratio;
}

Charge charge_of(const ReleaseTerms& terms, const std::string& where) {
  try {
    const Kind& kind = kind_of(terms.mechanism);
    check_terms(terms, kind);
    return kind.charge(terms);
  } catch (const UsageError& error) {
    throw UsageError(where + ": " + error.what());
  }
}

std::vector<ChargeGroup> read_charge_groups(const std::string& path) {
  std::vector<ChargeGroup> groups;
  std::vector<std::string> names;
  int number = 0;
  for (std::string line : read_lines(path, fmt::format("--groups '{}'", path))) {
    const std::string where = fmt::format("{}:{}", path, ++number);
    line = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (line.empty()) continue;
    if (names.empty()) {
      names = cells_of(line);
      check_header(names, where);
    } else {
      groups.push_back(group_of(names, cells_of(line), where));
    }
  }
  check(!groups.empty(), "{} names no releases: a header and a row for each group are needed.", path);
  return groups;
}

}  // namespace starling
