/// The table of coefficients of a run with a linear model (`starling report RUN --coefficients`).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "core/numerics/weighted_sum.hpp"
#include "output/intervals/interval.hpp"
#include "output/model_file/saved_model.hpp"
#include "report/view/summary_view.hpp"
#include "tables.hpp"

namespace starling {

/// The formats of the table: text, csv, markdown, latex and html.
[[nodiscard]] const std::vector<std::string>& coefficient_formats();

/// Coefficients in the units of the source, and what is known of each.
class CoefficientTable {
 public:
  /// Throws UsageError for a model without coefficients.
  CoefficientTable(const SavedModel& model, const SummaryView& summary);

  /// The table in a format. csv has all columns and digits, and in each line the reasons for its empty cells. The other
  /// formats leave out columns without a number, and give the reasons below the table.
  [[nodiscard]] std::string text(const std::string& format) const;

 private:
  enum Number : std::size_t { estimate, error, low, high, z, p, ratio, ratio_low, ratio_high, noise, count };
  struct Row {
    std::string name;
    bool is_intercept = false;
    std::optional<Client> client = {};
    std::optional<double> level = {};
    std::string method = {};
    std::array<double, Number::count> numbers = {};  ///< in the order of Number; NaN: not known
    std::string reason = {};                         ///< for what is not known of this coefficient alone
  };

  void take_intervals(const SavedModel& model, const std::vector<Interval>& intervals, bool in_own_units);
  void take_model(const SavedModel& model);
  void take_noise(const SavedModel& model, const SummaryView& summary);
  void leave_out(const SavedModel& model);
  void add_tests(const SummaryView& summary);
  void add_ratios(const SavedModel& model);
  void add_dispersion(const SavedModel& model, const SummaryView& summary);
  void add_notes(const SavedModel& model);
  [[nodiscard]] bool is_known(Number number) const;
  [[nodiscard]] std::string level_text(const Row& row) const;
  [[nodiscard]] TextTable whole() const;
  [[nodiscard]] TextTable in_short() const;
  [[nodiscard]] std::vector<std::string> notes_below() const;

  std::vector<Row> rows_;
  std::string ratio_name_;                           ///< "odds ratio"; empty where the loss has none
  std::array<std::string, Number::count> why_ = {};  ///< why a column has empty cells
  std::vector<std::string> notes_;
};

}  // namespace starling
