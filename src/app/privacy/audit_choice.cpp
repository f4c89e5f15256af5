#include "audit_choice.hpp"

#include "core/text/limits.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/privacy_options.hpp"

namespace starling {

namespace {

void add_claim_options(Options& options, AuditChoice& choice) {
  options.group("Claim");
  options.add(declared("mechanism",
                       "what is audited: a mechanism, or private-paper, all models of a stream under the noise of "
                       "starling renewable --variant private-paper; required",
                       {.values = mechanism_values, .common = true}),
              choice.mechanism);
  options.add(
      declared("epsilon", "claimed privacy loss of a release; default: 1. With --mechanism gaussian: at --delta",
               {.range = {tiny, most_epsilon}, .example = "1 --mechanism laplace"}),
      choice.epsilon);
  options.add(declared("mu", "claimed loss of a release in Gaussian differential privacy (gaussian alone)",
                       {.argument = "MU",
                        .range = {tiny, most_mu},
                        .example = "1 --mechanism gaussian",
                        .relations = {excludes("epsilon", "one follows from the other", "Give one.")}}),
              choice.mu);
  options.add(
      declared("delta", "of the claim; default: 0, and 1e-5 for gaussian. The dissertation claims 0 for its mechanism",
               {.range = {tiny, 0.999}}),
      choice.delta);
  options.add(
      declared("unit", {.help = "whose loss is claimed: record, or component of a record's gradient",
                        .relations = {excludes("mechanism=private-paper", "it claims records").only_for("component")}}),
      choice.unit, {{"record", PrivacyUnit::record}, {"component", PrivacyUnit::component}});
  options.add(
      declared("clip", "norm to which each record's gradient is clipped",
               {.initial = "1",
                .relations = {excludes("mechanism=private-paper", "it clips nothing", "See --c2 and --row-norm.")}}),
      choice.clip);
  options.add(declared("batch", "records in a sum", {.initial = "1", .common = true}), choice.batch);
  options.add(declared("dimension", "components of a gradient", {.initial = "1", .range = {.most = 100'000'000}}),
              choice.dimension);
  options.add(
      declared("rounds",
               "for dissertation: rounds of the run, on which its truncation depends (5); with --protocol omd: rounds "
               "that are played and seen (2); of private-paper: batches (10); with --noise-correlation: releases of a "
               "pass (16); with --trust pairs: of a client (2)",
               {.range = {.most = 1'000'000}, .example = "5 --mechanism dissertation"}),
      choice.rounds);
}

void add_chain_options(Options& options, AuditChoice& choice) {
  options.add(
      option("noise-correlation", "NAME",
             "none: one release; blt:2: all releases of a client, of which each takes back a share of earlier "
             "noise, with two buffers",
             {.relations = {needs("mechanism=gaussian", "no other noise can be correlated").only_for("blt"),
                            excludes("trust=central|masked", "one chain of releases is audited, whoever adds its noise",
                                     "Leave --trust out.")
                                .only_for("blt")}}),
      choice.correlated, {{"none", false}, {"blt:2", true}});
  options.add(
      declared(
          "epochs", "with --noise-correlation: passes, in each of which a record is used once",
          {.relations = {needs("noise-correlation=blt", "one release has no passes", "Add --noise-correlation blt:2."),
                         excludes("protocol=omd", "its record that differs is used once")}}),
      choice.epochs);
}

void add_aggregator_options(Options& options, AuditChoice& choice) {
  const Relation of_the_paper = needs("mechanism=private-paper", "it is a bound or a size of that paper");
  options.group("Aggregator");
  options.add(
      declared(
          "trust",
          "with gaussian: none (a client's own release), central (rank 0 adds noise to the sum over all "
          "clients), masked (the clients add shares of it under masks, and rank 0 reads the sum) or pairs (all "
          "releases of clients that share noise in pairs, less what --collusion clients know of it)",
          {.initial = "none",
           .relations = {needs("mechanism=gaussian", "other noise than Gaussian is each client's own")
                             .only_for("central|masked|pairs"),
                         excludes("protocol=omd", "its clients release by themselves").only_for("central|masked|pairs"),
                         excludes("noise-key=seed", "its runs have noise of their own rounds").only_for("pairs")}}),
      choice.trust,
      {{"none", AuditTrust::none},
       {"central", AuditTrust::central},
       {"masked", AuditTrust::masked},
       {"pairs", AuditTrust::pairs}});
  options.add(declared("clients", "with --trust central, masked (2) or pairs (4): clients, of --batch records each",
                       {.argument = "M",
                        .range = {.most = 100'000},
                        .example = "3 --trust masked --mechanism gaussian",
                        .relations = {needs("trust=central|masked|pairs", "a release is one client's")}}),
              choice.clients);
  options.add(option("collusion", "K", "with --trust pairs: clients that pool their keys and all that they see",
                     {.initial = "1",
                      .range = {0, 100},
                      .unit = "clients",
                      .example = "2 --trust pairs --mechanism gaussian --mu 1",
                      .relations = {needs("trust=pairs", "nobody else shares noise")}}),
              choice.colluding);
  options.add(
      declared(
          "l2", "of private-paper: its lambda (0.1)",
          {.argument = "L", .range = {tiny}, .example = "0.1 --mechanism private-paper", .relations = {of_the_paper}}),
      choice.l2);
  options.add(declared("c2", "of private-paper: the bound on a row's norm that it assumes (1)",
                       {.argument = "C", .example = "1 --mechanism private-paper", .relations = {of_the_paper}}),
              choice.c2);
  options.add(declared("rho", "of private-paper: its rho (0)",
                       {.argument = "R",
                        .range = {0.0, 1e12},
                        .example = "0 --mechanism private-paper",
                        .relations = {of_the_paper}}),
              choice.rho);
  options.add(option("row-norm", "N", "of private-paper: the norm that rows really have, with their 1 (7)",
                     {.range = {1.0, 1e6}, .example = "7 --mechanism private-paper", .relations = {of_the_paper}}),
              choice.row_norm);
}

void add_method_options(Options& options, AuditChoice& choice) {
  options.group("Audit");
  options.add(
      option("samples", "N",
             "releases of each side that are judged; as many others, or as memory holds, choose the events. Default: "
             "1000000; 100000 with --protocol omd or --noise-correlation; 10000 with --trust pairs; with --run: rounds "
             "(100000)",
             {.range = {100, 1'000'000'000'000}, .unit = "releases", .example = "100000", .common = true}),
      choice.samples);
  options.add(
      option("protocol", "NAME",
             "none: the release itself; omd: what a neighbour holds after whole small runs of `starling omd`",
             {.common = true,
              .relations = {excludes("mechanism=private-paper", "it has a protocol of its own, which is audited")
                                .only_for("omd")}}),
      choice.of_omd, {{"none", false}, {"omd", true}});
  options.add(flag("run", "one long run with a canary in each round, whose signs are guessed (with --protocol omd)",
                   {.relations = {needs("protocol=omd", "it is a run of a protocol"),
                                  excludes("output", "nothing is drawn of one run", "Leave it out, or take --json.")}}),
              choice.one_run);
  options.add(
      declared(
          "noise-key",
          {.help =
               "random: each run has a key from the operating system; seed: each has the key that `--noise-key seed` "
               "gives, which is found out"}),
      choice.seeded, {{"random", false}, {"seed", true}});
  options.add(declared("seed", {.help = "of --noise-key seed"}), choice.seed);
}

}  // namespace

Options audit_options(AuditChoice& choice) {
  Options options("privacy audit");
  add_claim_options(options, choice);
  add_chain_options(options, choice);
  add_aggregator_options(options, choice);
  add_method_options(options, choice);
  options.group("Output");
  options.add(declared("output", {.help = "folder for audit.json, audit-histogram.csv and the picture audit.svg; it is "
                                          "made if it does not exist"}),
              choice.output);
  options.add(declared("json", {.help = "print one JSON object in place of tables"}), choice.json);
  add_last_options(options, choice.progress);
  return options;
}

}  // namespace starling
