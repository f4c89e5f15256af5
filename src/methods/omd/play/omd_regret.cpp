#include "omd_regret.hpp"

#include <utility>

#include "methods/omd/omd_config.hpp"
#include "methods/omd/omd_parts.hpp"
#include "methods/omd/run_constraints.hpp"
#include "protocol/decentralized/omd.hpp"
#include "regret/regret.hpp"
#include "report/summary.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

/// **Collective.**
bool any_has_played(RunContext& run, const DecentralizedOmd& omd) {
  bool any = false;
  for (const RoundSet& rounds : omd.played().rounds) any = any || !rounds.empty();
  return run.agreement.any(declare_public(any));
}

/// The records that were played, and what was played on them. **Collective.**
EvaluationData data_of_run(RunContext& run, const OmdConfig& config, const DecentralizedOmd& omd,
                           const PlayedRecorder& recorder) {
  EvaluationData data;
  run.agreement.together([&] {
    Dataset again = run.inputs.opened_again(config.data);
    check<DataError>(again.fingerprint == run.inputs.dataset.fingerprint,
                     "{}: it has changed since the run began: the regret would be that of other records.",
                     config.data.source);
    data.streams = std::move(again.streams);
  });
  data.rounds = omd.played().rounds;
  data.marks = recorder.marks();
  data.played = recorder.played();
  data.batch = config.data.batch;
  data.l2 = config.omd.l2;
  data.l2.lambda *= config.omd.l2_share;
  return data;
}

/// **Collective.**
Regret regret_of_run(RunContext& run, const OmdParts& parts, const EvaluationData& data) {
  const OmdConfig& config = parts.config;
  const MetricsPolicy policy = run.metrics_policy();
  const EvaluationPass pass(run.agreement, policy, *parts.model, *parts.domain, data,
                            [&run] { return !run.world.go_on_waiting(); });
  return find_regret(pass, {config.regret != RegretChoice::dynamic, config.regret != RegretChoice::static_regret,
                            parts.constraints ? &parts.constraints->set() : nullptr, config.benchmark_window});
}

}  // namespace

void add_regret(Summary& summary, RunContext& run, const OmdParts& parts, const DecentralizedOmd& omd,
                const PlayedRecorder& recorder, bool stopped) {
  if (stopped) {
    run.notes.emplace_back("regret: left out, since the run was stopped");
  } else if (!any_has_played(run, omd)) {
    run.notes.emplace_back("regret: there is none, since no client took a step");
  } else {
    EvaluationData data = data_of_run(run, parts.config, omd, recorder);
    for (const std::string& remark : remarks_on(summary.add(regret_of_run(run, parts, data)))) {
      run.notes.push_back(remark);
    }
  }
}

}  // namespace starling
