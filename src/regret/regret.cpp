#include "regret/regret.hpp"

#include <filesystem>
#include <sstream>

#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

constexpr double most_listed_clients = 100;
constexpr const char* header = "rounds,static,dynamic,path_length,static_fitted,dynamic_fitted";

/// Rounds, played loss and the comparators' losses of each local client.
Secret<Vector> rows_of_clients(const EvaluationPass& pass, const Regret& regret) {
  const bool fixed = regret.fixed && regret.fixed->exists();
  const bool moving = regret.moving && regret.moving->exists();
  Secret<Vector> rows;
  for (std::size_t k = 0; k < pass.records().clients(); ++k) {
    const auto rounds = static_cast<double>(pass.data().rounds[k].size());
    rows.update(
        [&](Vector& all, const Vector& played) {
          all.insert(all.end(), {rounds, played.empty() ? 0 : played.back(), unknown, unknown});
        },
        pass.data().played[k]);
    if (fixed) {
      rows.update([](Vector& all, const double& best) { all[all.size() - 2] = best; }, regret.fixed->best[k]);
    }
    if (moving) {
      rows.update([](Vector& all, const double& best) { all.back() = best; }, regret.moving->best_of_clients[k]);
    }
  }
  return rows;
}

std::vector<ClientRegret> list_clients(const EvaluationPass& pass, const Regret& regret) {
  std::vector<ClientRegret> clients;
  const auto shared = pass.policy().share(rows_of_clients(pass, regret), SharedFigure::regret_of_clients);
  for (const Vector& rows : pass.agreement().gather(*shared)) {
    for (std::size_t i = 0; i + 3 < rows.size(); i += 4) {
      clients.push_back(
          {static_cast<Round>(rows[i]), rows[i + 1], rows[i + 1] - rows[i + 2], rows[i + 1] - rows[i + 3]});
    }
  }
  return clients;
}

RegretCurve curve_of(const EvaluationPass& pass, const Regret& regret) {
  RegretCurve curve;
  curve.rounds = pass.marks();
  const Vector none(curve.rounds.size(), unknown);
  curve.fixed = regret.fixed && !regret.fixed->curve.empty() ? regret.fixed->curve : none;
  const bool moving = regret.moving && regret.moving->exists();
  curve.moving = moving ? regret.moving->curve : none;
  curve.path_length = moving ? regret.moving->path : none;
  curve.fixed_growth = fit_growth(curve.rounds, curve.fixed);
  curve.moving_growth = fit_growth(curve.rounds, curve.moving);
  return curve;
}

double fitted(const std::optional<GrowthFit>& fit, Round t) {
  return fit && t >= fit->from ? fit->at(t) : unknown;
}

/// Fields of a line; an empty one is NaN.
Vector fields_of(const std::string& line, const std::string& where) {
  Vector fields;
  std::istringstream parts(line + ",");
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.empty()) {
      fields.push_back(unknown);
      continue;
    }
    char* end = nullptr;
    fields.push_back(std::strtod(part.c_str(), &end));
    check<DataError>(*end == '\0', "{}: '{}' is no number: the file is damaged. Restore it.", where, part);
  }
  check<DataError>(fields.size() == 6 && fields[0] >= 1, "{}: not the line of a regret curve: {} fields. Restore it.",
                   where, fields.size());
  return fields;
}

}  // namespace

Regret find_regret(const EvaluationPass& pass, const RegretKinds& kinds) {
  Regret regret;
  regret.played = pass.played().back();
  regret.client_rounds = static_cast<std::int64_t>(pass.client_rounds().back());
  if (kinds.fixed) regret.fixed = static_regret(pass);
  if (kinds.moving) regret.moving = dynamic_regret(pass);
  if (kinds.fixed && kinds.constraints != nullptr) {
    regret.constrained = constrained_regrets(pass, *kinds.constraints, kinds.window);
  }
  const auto own = static_cast<double>(pass.records().clients());
  const Vector clients = pass.agreement().ordered_sum(Released<Columns>(declare_public([&] {
    Columns count(1, 1);
    count[0][0] = own;
    return count;
  }())));
  if (clients[0] <= most_listed_clients) regret.per_client = list_clients(pass, regret);
  regret.curve = curve_of(pass, regret);
  return regret;
}

std::vector<std::string> remarks_on(const Regret& regret) {
  std::vector<std::string> remarks;
  if (regret.fixed) remarks.push_back(remark_on(*regret.fixed));
  if (!remarks.empty() && remarks.back().empty()) remarks.pop_back();
  for (const ConstrainedRegret& each : regret.constrained) {
    if (std::string remark = remark_on(each); !remark.empty()) remarks.push_back(std::move(remark));
  }
  if (regret.moving) {
    for (std::string& remark : remarks_on(*regret.moving)) remarks.push_back(std::move(remark));
  }
  return remarks;
}

void write_regret_curve(const std::string& folder, const RegretCurve& curve) {
  std::string text = std::string(header) + "\n";
  for (std::size_t i = 0; i < curve.rounds.size(); ++i) {
    const Round t = curve.rounds[i];
    text += fmt::format("{},{},{},{},{},{}\n", t, csv_field(curve.fixed[i]), csv_field(curve.moving[i]),
                        csv_field(curve.path_length[i]), csv_field(fitted(curve.fixed_growth, t)),
                        csv_field(fitted(curve.moving_growth, t)));
  }
  write_text(folder + "/regret.csv", text);
}

std::optional<RegretCurve> read_regret_curve(const std::string& folder) {
  const std::string path = folder + "/regret.csv";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  std::istringstream lines(read_text(path));
  std::string line;
  check<DataError>(std::getline(lines, line) && line == header,
                   "'{}' is no regret curve: its header is '{}'. Restore it.", path, line);
  RegretCurve curve;
  while (std::getline(lines, line)) {
    const Vector fields = fields_of(line, fmt::format("'{}' line {}", path, curve.rounds.size() + 2));
    curve.rounds.push_back(static_cast<Round>(fields[0]));
    curve.fixed.push_back(fields[1]);
    curve.moving.push_back(fields[2]);
    curve.path_length.push_back(fields[3]);
  }
  curve.fixed_growth = fit_growth(curve.rounds, curve.fixed);
  curve.moving_growth = fit_growth(curve.rounds, curve.moving);
  return curve;
}

}  // namespace starling
