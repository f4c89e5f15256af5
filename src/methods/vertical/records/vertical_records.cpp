#include "vertical_records.hpp"

#include <iterator>
#include <unordered_set>

#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "data/column_names.hpp"
#include "data/serving/known_records.hpp"
#include "data/source.hpp"
#include "party_records.hpp"
#include "privacy/without_noise.hpp"
#include "run/settings/source_options.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

/// The columns of the k-th hosted party, `width` of them, of all records of a table without ids.
Secret<Batch> rows_of_party(const VerticalDataset& data, std::size_t k, std::size_t width) {
  Secret<Batch> rows;
  data.stream->align({});
  for (Round t = 0;; ++t) {
    data.stream->load(t);
    if (data.stream->learning() == 0) return rows;
    rows.update(
        [width](Batch& all, const Vector& values) {
          for (std::size_t i = 0; i < values.size(); i += width) all.add({View(values).subspan(i, width), {}}, 0);
        },
        data.stream->inputs(k));
  }
}

}  // namespace

void VerticalRecords::open() {
  if (!config_.is_spectrum()) {
    setting_.loss = make_target_loss(config_.loss, config_.head.outputs.value_or(default_outputs(config_.loss, 1)), 1);
    check_class_labels(config_.data, setting_.loss->classifies() ? setting_.loss->outputs() : 0,
                       "--loss " + config_.loss);
    config_.data.label_map = [this](double raw) { return setting_.loss->label(raw); };
    if (setting_.loss->classifies()) config_.data.labels_stay = "labels are classes";
  } else {
    check_class_labels(config_.data, 0, "--loss " + config_.loss);
  }
  config_.data.first_reading = run_.inputs.first_reading;
  setting_.data = setting_.open_source(run_.first_rank());
  run_.inputs.source_digests = run_.inputs.digests_of_sources();
  run_.inputs.dataset.is_public = setting_.data.is_public;
  run_.inputs.dataset.replayable = setting_.data.replayable;
  run_.inputs.dataset.digest = setting_.data.digest;
  run_.inputs.dataset.fingerprint = setting_.data.fingerprint;
  if (config_.held_out.empty()) return;
  setting_.held_out = open_held_out();
  if (!harms_nobody(config_.privacy, setting_.data.is_public)) run_.inputs.require_other_records(files_of_held_out());
  if (config_.privacy.protects()) {
    run_.notes.push_back(
        fmt::format("the records of --test count as public: the parties' {} of them go to rank 0 without noise",
                    config_.on_shares() ? "parts of the scores" : "embeddings"));
  }
}

VerticalDataset VerticalRecords::open_held_out() {
  const VerticalSettings settings = config_.held_out_settings();
  const bool knows_labels =
      settings.matched_in_private ? setting_.hosts(setting_.labels_at(settings)) : run_.first_rank();
  return open_vertical(settings, static_cast<std::size_t>(run_.inputs.layout->clients() - 1), setting_.first_party(),
                       setting_.party_count(), knows_labels);
}

/// The files of features that this rank's parties have held out.
std::vector<std::string> VerticalRecords::files_of_held_out() const {
  const VerticalSettings settings = config_.held_out_settings();
  if (settings.files.empty() && !is_per_client(settings.source)) return {files_of(settings.source).front()};
  std::vector<std::string> files;
  for (std::size_t k = setting_.first_party(); k < setting_.first_party() + setting_.party_count(); ++k) {
    files.push_back(settings.files.empty() ? name_of_client(settings.source, static_cast<Client>(k + 1))
                                           : settings.files[k]);
  }
  return files;
}

/// Covers the held-out records too, as far as rank 0 has read them.
std::string VerticalRecords::digest_of_inputs(const std::string& of_all_methods) const {
  if (!setting_.held_out) return of_all_methods;
  return sha256(of_all_methods +
                (setting_.held_out->common ? setting_.held_out->fingerprint : setting_.held_out->label_fingerprint));
}

void VerticalRecords::agree() {
  setting_.rank_key.emplace(run_.agreement, run_.inputs.introductions.get());
  if (setting_.data.common) {
    run_.agreement.same("content of " + config_.data.source,
                        declare_public(setting_.rank_key->digest("content", setting_.data.fingerprint)));
  }
  agree_on_labels();
  setting_.data.shape = joined_shape(run_.agreement, setting_.data);
  run_.agreement.together([&] {
    check_drops();
    check_ids();
  });
  note_names();
  match_records();
  if (config_.privacy.unit == PrivacyUnit::person) {
    group_records(run_.agreement, *setting_.rank_key, config_.plan.person_rows, setting_.data);
    const auto m = static_cast<std::int64_t>(setting_.data.batch);
    setting_.data.shape.rounds = (*setting_.data.shape.records + m - 1) / m * config_.data.epochs;
    run_.notes.emplace_back("persons count alike: each is in the objective by the mean over the person's records");
  }
  if (setting_.held_out) agree_on_held_out();
}

MatchingPlace VerticalRecords::matching_place() {
  return {run_.world,        run_.agreement,  *run_.inputs.layout, *setting_.rank_key, run_.inputs.introductions.get(),
          config_.data.seed, config_.progress};
}

/// Puts the records into the common order, which those of all parties have in common. **Collective.**
void VerticalRecords::match_records() {
  if (!config_.matches_in_private()) return align_records(run_.agreement, *setting_.rank_key, setting_.data);
  const std::size_t labels_at = setting_.labels_at(config_.settings());
  match_in_private(matching_place(), "training", labels_at, setting_.data);
  const bool to_all = config_.plan.labels == LabelHolders::all;
  const LabelRelease release = [to_all](const Secret<Vector>& labels, Released<Vector>& released) {
    to_all ? KnownLabels::publish(labels, 1, released) : HandedLabels::publish(labels, released);
  };
  hand_labels_over(matching_place(), labels_at,
                   config_.on_shares() ? LabelReceivers::nobody
                   : to_all            ? LabelReceivers::all_ranks
                                       : LabelReceivers::first_rank,
                   release, setting_.data);
  run_.notes.push_back(
      fmt::format("ids were matched in private: {} records are in all parties' files", *setting_.data.shape.records));
  tell_of_own_rows();
}

/// **Collective.**
void VerticalRecords::match_held_out() {
  if (!config_.matches_in_private()) return align_records(run_.agreement, *setting_.rank_key, *setting_.held_out);
  const std::size_t labels_at = setting_.labels_at(config_.held_out_settings());
  match_in_private(matching_place(), "test", labels_at, *setting_.held_out);
  hand_labels_over(matching_place(), labels_at, LabelReceivers::first_rank, &DeclaredPublic::publish,
                   *setting_.held_out);
}

/// Tells each party which of its own records are left out.
void VerticalRecords::tell_of_own_rows() {
  for (std::size_t k = 0; k < setting_.data.matched_rows.size(); ++k) {
    const std::size_t records = setting_.data.stream->ids(k).size();
    std::vector<bool> is_used(records, false);
    for (const std::size_t row : setting_.data.matched_rows[k]) is_used[row] = true;
    std::vector<std::size_t> others;
    for (std::size_t row = 0; row < records; ++row) {
      if (!is_used[row]) others.push_back(row);
    }
    run_.inputs.for_owner.note_unmatched(static_cast<Client>(setting_.first_party() + k + 1), others, records);
  }
}

/// A spectrum's columns are named by the program: y is a place.
void VerticalRecords::note_names() {
  if (config_.is_spectrum()) return;
  for (const std::vector<std::string>& of_party : setting_.data.shape.names) {
    std::ranges::move(notes_on_names(of_party), std::back_inserter(run_.notes));
  }
}

/// The held-out records have the columns of those that are learned from.
void VerticalRecords::agree_on_held_out() {
  if (setting_.held_out->common)
    run_.agreement.same("content of --test", declare_public(setting_.held_out->fingerprint));
  setting_.held_out->shape = joined_shape(run_.agreement, *setting_.held_out);
  const VerticalShape& shape = setting_.held_out->shape;
  run_.agreement.together([&] {
    for (std::size_t k = 0; k < shape.columns.size(); ++k) {
      check<DataError>(shape.columns[k] == setting_.data.shape.columns[k],
                       "--test: party {} has {} columns, where it has {} to learn from. Give files with the same "
                       "columns.",
                       k + 1, shape.columns[k], setting_.data.shape.columns[k]);
      require_same_names(setting_.data.shape.names[k], shape.names[k], fmt::format("party {}", k + 1), "--test");
    }
  });
  match_held_out();
  if (!harms_nobody(config_.privacy, setting_.data.is_public)) run_.agreement.together([&] { compare_held_out(); });
}

/// Tells owners which records of --test are among those to learn from: by the ids, of which all ranks have digests,
/// else by each party's columns.
void VerticalRecords::compare_held_out() {
  if (!setting_.data.ids.empty()) {
    const std::unordered_set<std::uint64_t> own(setting_.data.ids.begin(), setting_.data.ids.end());
    std::vector<std::size_t> shared;
    for (std::size_t i = 0; i < setting_.held_out->ids.size(); ++i) {
      if (own.contains(setting_.held_out->ids[i])) shared.push_back(i);
    }
    return run_.inputs.for_owner.note_shared(run_.inputs.first_client(), Secret(shared), setting_.held_out->ids.size());
  }
  for (std::size_t k = 0; k < setting_.party_count(); ++k) {
    const std::size_t width = setting_.data.shape.columns[setting_.first_party() + k];
    const Secret<Batch> known = rows_of_party(open_held_out(), k, width);
    const Secret<Batch> own = rows_of_party(setting_.open_source(run_.first_rank()), k, width);
    Secret<std::vector<std::size_t>> shared;
    shared.update(
        [](auto& numbers, const Batch& all, const Batch& of_party) { numbers = KnownRecords(all).found_in(of_party); },
        known, own);
    run_.inputs.for_owner.note_shared(static_cast<Client>(setting_.first_party() + k + 1), shared,
                                      static_cast<std::size_t>(setting_.held_out->shape.records.value_or(0)));
  }
}

/// Ranks that know the labels must know the same. Of labels that rank 0 alone knows nothing is said. **Collective.**
void VerticalRecords::agree_on_labels() {
  if (config_.plan.labels == LabelHolders::head || config_.on_shares() || config_.matches_in_private()) return;
  const std::string& own = setting_.data.label_fingerprint;
  const auto all =
      run_.agreement.all_gather(declare_public(own.empty() ? own : setting_.rank_key->digest("labels", own)));
  run_.agreement.together([&] {
    for (std::size_t r = 1; r < all.size(); ++r) {
      check<DataError>(all[r].empty() || all[r] == all[0],
                       "rank {} has read other labels than rank 0, or in another order: all must learn from the same. "
                       "Give all ranks the same label source.",
                       r);
    }
  });
}

/// A column that one party has is no business of another's, but somebody's file must have it.
void VerticalRecords::check_drops() const {
  for (std::size_t i = 0; i < setting_.data.shape.dropped.size(); ++i) {
    check(setting_.data.shape.dropped[i],
          "--drop: no party's file has a column '{}': nothing would be left out. Correct it.", config_.data.drop[i]);
  }
}

/// Numbers that identify records would be learned from, and records would go together by their place.
void VerticalRecords::check_ids() {
  if (!config_.data.id.empty() || setting_.data.common) return;
  run_.notes.emplace_back("no --id: records of the parties' files go together by their place");
  for (std::size_t k = 0; k < setting_.data.shape.names.size(); ++k) {
    for (const std::string& name : setting_.data.shape.names[k]) {
      check(name != "id" && name != "ID" && name != "Id",
            "party {} has a column '{}' and there is no --id: it would be a feature, and records would go together by "
            "their place. Add --id {}, or --drop {}.",
            k + 1, name, name, name);
    }
  }
}

}  // namespace starling
