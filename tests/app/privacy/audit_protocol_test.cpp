#include "app/privacy/audit_protocol.hpp"

#include "privacy/audit/audit_check.hpp"
#include "privacy/mechanism.hpp"
#include "support/mpi_testing.hpp"
#include "support/slow.hpp"

namespace starling::audit_protocol_test {

using namespace testing_support;

// Faults that an audit must find in what a neighbour of a whole run sees. By default those that no mechanism shows by
// itself: records are clipped by the model, and each coordinate is mixed.
TEST(AuditProtocol, FindsEveryPlantedFault) {
  OmdAudit omd(world(), 2);
  AuditCheckPlan plan;
  plan.subject = [&](Mechanism& made, double price) { return omd.subject(made, price, random_audit_keys()); };
  plan.honest = "the honest protocol";
  plan.null_samples = slow() ? 5'000 : 1'000;
  plan.honest_samples = slow() ? 20'000 : 4'000;
  plan.faulty_samples = slow() ? 5'000 : 1'000;
  plan.share_to_recover = slow() ? 0.8 : 0.5;  // with so few runs
  if (!slow()) {
    std::erase_if(plan.faults, [](const PlantedFaultRow& row) {
      return row.fault != PlantedFault::forgotten_clip && row.fault != PlantedFault::bare_coordinate;
    });
  }
  for (const AuditCheck& check : check_audit(mechanism_table().first(ChargeKind::laplace), plan)) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
  }
}

}  // namespace starling::audit_protocol_test
