// A plug-in in a library of its own (logistic_plugin.cpp): audits of it, and what it may do to memory.
#include <algorithm>
#include <cfenv>
#include <filesystem>

#include "privacy/mechanism.hpp"
#include "protocol/canary.hpp"
#include "protocol/own_model/own_model.hpp"
#include "protocol/own_model/row_model.hpp"
#include "support/sanitized.hpp"
#include "support/testing.hpp"

namespace starling::plugin_test {

using namespace testing_support;

/// The plug-in of this build, which stands beside the test program.
std::string test_plugin() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libstarling_test_plugin.so";
}

Score evaluated(const std::string& options) {
  RowModel model(open_plugin(test_plugin(), options), 2);
  const Vector row{1, -2};
  Batch batch;
  batch.clear();
  for (int i = 0; i < 3; ++i) batch.add({row, {}}, 1);
  Vector gradient;
  return model.evaluate(Vector{0, 0}, batch, Clip{ClipKind::l2, 1}, gradient);
}

TEST(Plugin, MayNotWriteBeyondItsBuffers) {
  EXPECT_EQ(evaluated("").records, 3);
  for (const char* what : {"losses", "gradients"}) {
    EXPECT_ERROR(FailureError, std::string("beyond the end of the ") + what, evaluated(what));
  }
  if (sanitized) {
    EXPECT_DEATH(static_cast<void>(evaluated("far")), "heap-buffer-overflow");
  }
}

TEST(Plugin, CannotChangeHowStarlingRounds) {
  const auto own = open_plugin(test_plugin(), "upward");
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(evaluated("upward").records, 3);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(Plugin, SaysTheSlopeOfItsLoss) {
  EXPECT_EQ(open_plugin(test_plugin(), "")->slope(), 0.5);
  EXPECT_EQ(open_plugin(test_plugin(), "far")->slope(), std::nullopt);
}

TEST(Plugin, IsToldApartByItsOptions) {
  EXPECT_EQ(open_plugin(test_plugin(), "")->identity(), open_plugin(test_plugin(), "")->identity());
  EXPECT_NE(open_plugin(test_plugin(), "")->identity(), open_plugin(test_plugin(), "far")->identity());
}

/// A planted fault: rows go into the sum as they are.
class UnclippedModel final : public RowModel {
 public:
  using RowModel::RowModel;

 private:
  void find_factors(MutableView /*rows*/, const Clip& /*clip*/, MutableView factors) const override {
    std::fill(factors.begin(), factors.end(), 1.0);
  }
};

/// The audit of 4,000 releases of so many records each, at epsilon 1.
OneRunResult audited(Model& model, std::size_t records) {
  CanaryLog log;
  CanaryModel canary(model, 0, NoiseKey::from_seed(1, 0), log);
  const ReleaseSettings settings{.price = PriceRange::of(1), .batch = records, .dimension = 2, .run_id = "test"};
  const auto laplace = mechanism_table().make("laplace", settings);
  CanaryMechanism mechanism(*laplace, 0, log);
  const NoiseKey key = NoiseKey::from_seed(2, 0);
  Batch batch;
  batch.clear();
  const Vector row{0.01, 0.02};
  for (std::size_t i = 0; i < records; ++i) batch.add({row, {}}, i % 2 == 0 ? 1 : -1);
  Released<Vector> noisy(declare_public(Vector()));
  Vector sum;
  for (Round t = 0; t < 4000; ++t) {
    static_cast<void>(canary.evaluate(Vector{0, 0}, batch, mechanism.clip(), sum));
    mechanism.release({ReleasePath::by_itself, 0, t, 0}, 1, key, Secret<Vector>(sum), noisy);
  }
  return one_run_audit(log, laplace->charge(1), 1e-5);
}

// The canary is four times as long as the bound. Of few records the mechanism itself refuses such a sum.
TEST(Plugin, AuditsSeeWhetherItsRowsAreClipped) {
  const auto own = open_plugin(test_plugin(), "");
  RowModel honest(own, 2);
  UnclippedModel planted(own, 2);
  EXPECT_FALSE(audited(honest, 8).refuted);
  EXPECT_TRUE(audited(planted, 8).refuted);
  EXPECT_FALSE(audited(honest, 2).refuted);
  EXPECT_THROW(audited(planted, 2), DataError);
}

}  // namespace starling::plugin_test
