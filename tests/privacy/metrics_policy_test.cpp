// What leaves without noise is named: by the policy that lets it out, in the statement and in docs/privacy.md.
#include "privacy/metrics_policy.hpp"

#include <fmt/format.h>

#include "files/durable_file.hpp"
#include "support/testing.hpp"

namespace starling::metrics_policy_test {

using namespace testing_support;

using Sharing = MetricsPolicy::Sharing;

TEST(MetricsPolicy, SharesOnlyWhereToldTo) {
  const Secret<double> loss(0.5);
  EXPECT_FALSE(MetricsPolicy(Sharing::local).share(loss, SharedFigure::scores_of_run).has_value());
  EXPECT_EQ(MetricsPolicy(Sharing::shared).share(loss, SharedFigure::scores_of_run)->value(), 0.5);
}

TEST(MetricsPolicy, NamesWhatItLetsOutAndNothingElse) {
  const Secret<double> loss(0.5);
  SharedFigures log;
  static_cast<void>(MetricsPolicy(Sharing::local, &log).share(loss, SharedFigure::labels));
  EXPECT_TRUE(log.words().empty());
  const MetricsPolicy policy(Sharing::shared, &log);
  static_cast<void>(MetricsPolicy(policy).share(loss, SharedFigure::records_of_rounds));
  EXPECT_EQ(log.words(), (std::vector<std::string>{words_for(SharedFigure::records_of_rounds)}));
  SharedFigures of_another_rank;
  static_cast<void>(MetricsPolicy(Sharing::shared, &of_another_rank).share(loss, SharedFigure::scores_of_run));
  log.add(of_another_rank.text());
  EXPECT_EQ(log.words(), (std::vector<std::string>{words_for(SharedFigure::scores_of_run),
                                                   words_for(SharedFigure::records_of_rounds)}));
}

TEST(SharedFigureTable, StandsInTheDocumentationRowByRow) {
  const std::string text = read_whole_file(source_folder() + "/docs/privacy.md").value();
  for (const SharedFigureRow& row : shared_figure_table()) {
    const std::string line = fmt::format("| {} | {} |", row.what, row.whom);
    EXPECT_THAT(text, HasSubstr(line)) << "docs/privacy.md lacks\n" << line;
  }
}

}  // namespace starling::metrics_policy_test
