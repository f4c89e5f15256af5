#include "parties_together.hpp"

#include <algorithm>
#include <numeric>

#include "core/check.hpp"
#include "files/tell_user.hpp"
#include "methods/vertical/records/private_matching.hpp"
#include "privacy/statement/terms.hpp"
#include "privacy/without_noise.hpp"
#include "protocol/vertical/vertical_networks.hpp"
#include "protocol/vertical/vertical_predictions.hpp"

namespace starling {

namespace {

constexpr std::size_t at_once = 2048;

}  // namespace

PartiesTogether::PartiesTogether(World& world, const ModelSource& choice, ScoredSource::Labels labels)
    : world_(world),
      agreement_(world),
      layout_(Layout::with_centre(static_cast<Client>(choice.parties.size()), world.size())),
      labels_(labels) {
  introduce(choice);
  agreement_.together([&] { read_parts(choice); });
  agree_on_parts(choice);
  open_records(choice, labels);
}

void PartiesTogether::introduce(const ModelSource& choice) {
  const IdentityChoice& files = choice.identities;
  if (!files.members) return;
  introductions_.emplace(agreement_, layout_, std::vector<Client>(), IdentityFiles{*files.identity, *files.members},
                         choice.configuration);
  // An owner whose consent names mechanisms or bounds a loss has not agreed to embeddings without noise.
  const SealedMessages sealed =
      seal_messages(world_, agreement_, *introductions_, choice.configuration + "mechanism = none\n", files.seal);
  if (!is_first()) return;
  tell_user("note: {} members have proved who they are; the list has the fingerprint {}; sealed messages: {}\n",
            introductions_->members().all().size(), introductions_->members().fingerprint(), name_of(sealed));
}

std::size_t PartiesTogether::first_party() const {
  return static_cast<std::size_t>(std::max<Client>(layout_.first(world_.rank()) - 1, 0));
}

/// Reads the parts of this rank's clients.
void PartiesTogether::read_parts(const ModelSource& choice) {
  check(!choice.model.empty(), "no model is named. Give the model.h5 of a run, or the run's directory.");
  refuse_constants(choice.reading);
  const ModelParts parts(choice.model);
  const Client first = layout_.first(world_.rank());
  for (Client client = first; client < first + layout_.count(world_.rank()); ++client) {
    SavedModel part = parts.part(client);
    const std::size_t parties_of_run = part.as<PartForm>()->party_count;
    check(parties_of_run == choice.parties.size(),
          "--parties: {} files for a model of {} parties. Give a file of each, in the parties' order.",
          choice.parties.size(), parties_of_run);
    if (run_.empty()) run_ = part.origin_text("run_id");
    check<DataError>(part.origin_text("run_id") == run_,
                     "'{}': parts of the runs {} and {}. Give the parts of one run.", choice.model, run_,
                     part.origin_text("run_id"));
    if (client == 0) {
      head_ = std::move(part);
    } else {
      parts_.push_back(std::move(part));
    }
  }
  for (const SavedModel& part : parts_) embedders_.emplace_back(part);
  if (!head_) return;
  open_loss();
  network_ = make_network_block(head_->as<HeadForm>()->architecture, head_->as<HeadForm>()->precision);
}

void PartiesTogether::open_loss() {
  loss_.emplace(*head_);
  units_.emplace(*head_, **loss_);
}

/// All parts are of one run.
void PartiesTogether::agree_on_parts(const ModelSource& choice) {
  const auto runs = agreement_.all_gather(declare_public(run_));
  const std::size_t inputs = head_ ? head_->features : 0;
  width_ = static_cast<std::size_t>(agreement_.max(declare_public(static_cast<std::int64_t>(inputs)))) /
           choice.parties.size();
  const bool doubles = head_ && head_->as<HeadForm>()->precision == Precision::full;
  quantiser_ = quantiser_table().make(agreement_.broadcast(declare_public(doubles)) ? "double" : "float32");
  label_ = agreement_.broadcast(declare_public(head_ ? head_->constants.label : std::string()));
  agreement_.together([&] {
    for (std::size_t r = 1; r < runs.size(); ++r) {
      check<DataError>(runs[r].empty() || runs[r] == runs[0],
                       "'{}': parts of the runs {} and {}. Give the parts of one run.", choice.model, runs[0], runs[r]);
    }
    for (const SavedModel& part : parts_) {
      check<DataError>(part.scores == width_,
                       "'{}': the part of party {} has embeddings of {}, and the head takes {}. "
                       "Give the parts of one run.",
                       choice.model, part.as<EmbeddingForm>()->party, part.scores, width_);
    }
  });
}

VerticalSettings PartiesTogether::settings_of(const ModelSource& choice, ScoredSource::Labels labels) const {
  VerticalSettings settings;
  static_cast<ReadSettings&>(settings) = choice.reading;
  settings.files = choice.parties;
  settings.label_source = choice.label_source;
  settings.batch = at_once;
  settings.go_on_waiting = [this] { return world_.go_on_waiting(); };
  if (settings.label.empty()) {
    settings.label = label_column(label_);
    settings.label_may_be_beside = true;
  }
  settings.constants_of_parties.resize(choice.parties.size());
  for (const SavedModel& part : parts_) {
    settings.constants_of_parties[part.as<EmbeddingForm>()->party - 1] =
        std::make_shared<PublicConstants>(part.constants);
  }
  if (labels == ScoredSource::Labels::not_needed) settings.labels = ReadSettings::Labels::none;
  if (!head_) return settings;
  settings.constants = std::make_shared<PublicConstants>(head_->constants);
  settings.label_map = [this](double raw) { return loss().label(units_->standardised(raw)); };
  return settings;
}

void PartiesTogether::open_records(const ModelSource& choice, ScoredSource::Labels labels) {
  RankKey key(agreement_, introductions());
  in_private_ = choice.matches_in_private();
  VerticalSettings settings = settings_of(choice, labels);
  settings.matched_in_private = in_private_;
  bool reads_labels = is_first();
  if (in_private_) {
    agreement_.together([&] { find_labels(settings); });
    const int holder = rank_of_labels(layout_, labels_at_);
    reads_labels = agreement_.rank() == holder;
    if (labels == ScoredSource::Labels::not_needed) taker_ = holder;
    spread_head(key);
    settings = settings_of(choice, labels);
    settings.matched_in_private = true;
  }
  agreement_.together(
      [&] { records_ = open_vertical(settings, choice.parties.size(), first_party(), parts_.size(), reads_labels); });
  records_.shape = joined_shape(agreement_, records_);
  if (in_private_) return match_records(choice, key);
  align_records(agreement_, key, records_);
  if (is_first() && choice.reading.id.empty()) {
    tell_user("note: no --id: records of the parties' files go together by their place\n");
  }
}

void PartiesTogether::find_labels(const VerticalSettings& settings) {
  const std::optional<std::size_t> found = settings.party_with_labels(settings.files.size());
  check(found.has_value(),
        "--label-source '{}' with --match private: it is no party's file, and whoever reads it would see the ids. Put "
        "the labels into a party's file, or use --match open.",
        settings.label_source);
  labels_at_ = *found;
}

void PartiesTogether::spread_head(RankKey& key) {
  std::string bytes;
  agreement_.together([&] {
    if (!is_first()) return;
    SavedModel without_parameters = *head_;
    std::fill(without_parameters.parameters.begin(), without_parameters.parameters.end(), 0.0);
    bytes = file_of_model(without_parameters);
  });
  bytes = key.broadcast(bytes);
  agreement_.together([&] {
    if (is_first() || agreement_.rank() != rank_of_labels(layout_, labels_at_)) return;
    head_ = model_in(bytes);
    open_loss();
  });
}

void PartiesTogether::match_records(const ModelSource& choice, RankKey& key) {
  const MatchingPlace place{world_, agreement_, layout_, key, introductions(), 0, ProgressChoice::automatic};
  match_in_private(place, "records", labels_at_, records_);
  hand_labels_over(place, labels_at_, LabelReceivers::first_rank, &DeclaredPublic::publish, records_);
  if (!takes_results()) return;
  tell_user("note: {} records are in the files of all parties{}\n", *records_.shape.records,
            taker_ == 0
                ? std::string()
                : fmt::format("; of {} in '{}' the others have no prediction",
                              records_.stream->ids(labels_at_ - first_party()).size(), choice.parties[labels_at_]));
}

void PartiesTogether::score(const std::function<void(const ScoredRecords& records)>& look) {
  Root root(world_, layout_);
  VerticalStream& stream = *records_.stream;
  Released<Vector> targets = declare_public(Vector());
  ScoredRecords records;
  const auto rows = [&](std::size_t k) -> const Secret<Vector>& {
    apply([&](Vector& embedding, const Vector& columns) { embedders_[k].embed(columns, embedding); }, embedding_,
          stream.inputs(k));
    return embedding_;
  };
  const bool hands_over = in_private_ && labels_ == ScoredSource::Labels::not_needed;
  Vector all_scores;
  const auto take = [&](const std::vector<Vector>& received) {
    DeclaredPublic::publish(stream.targets(), targets);
    records.labels = targets.value();
    apply_head(received, records);
    if (hands_over) {
      all_scores.insert(all_scores.end(), records.scores.begin(), records.scores.end());
    } else {
      look(records);
    }
    records.first += static_cast<std::int64_t>(records.size());
  };
  const std::vector<std::size_t> widths(static_cast<std::size_t>(layout_.clients() - 1), width_);
  send_held_out(root, stream, {widths, *quantiser_, rows, take});
  if (hands_over) hand_scores_over(all_scores, look);
}

void PartiesTogether::hand_scores_over(const Vector& scores,
                                       const std::function<void(const ScoredRecords& records)>& look) {
  std::vector<Released<Vector>> parts(static_cast<std::size_t>(agreement_.ranks()), declare_public(Vector()));
  if (is_first()) parts[static_cast<std::size_t>(taker_)] = declare_public(scores);
  const Vector received = agreement_.exchange(parts).front();
  if (!takes_results()) return;
  const std::vector<std::size_t>& rows = records_.matched_rows[labels_at_ - first_party()];
  std::vector<std::size_t> places(rows.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
  const std::size_t width = head_->scores;
  ScoredRecords records;
  for (std::size_t first = 0; first < places.size(); first += at_once) {
    records.scores.clear();
    records.keys.clear();
    for (std::size_t i = first; i < std::min(first + at_once, places.size()); ++i) {
      const View own = View(received).subspan(places[i] * width, width);
      records.scores.insert(records.scores.end(), own.begin(), own.end());
      records.keys.push_back(records_.id_texts[places[i]]);
    }
    records.labels.assign(records.keys.size(), 0.0);
    look(records);
    records.first += static_cast<std::int64_t>(records.size());
  }
}

void PartiesTogether::apply_head(const std::vector<Vector>& received, ScoredRecords& records) {
  embeddings_.resize(received.size() * received[0].size());
  for (std::size_t k = 0; k < received.size(); ++k) put_part(received[k], received.size(), k, width_, embeddings_);
  const View outputs = network_->forward(head_->parameters, embeddings_);
  records.scores.assign(outputs.begin(), outputs.end());
  if (!records_.id_texts.empty() && !in_private_) {
    const auto first = records_.id_texts.begin() + records.first;
    records.keys.assign(first, first + static_cast<std::int64_t>(records.size()));
  }
  if (!units_->differ()) return;
  for (double& score : records.scores) score = units_->own(score);
  for (double& label : records.labels) label = units_->own(label);
}

}  // namespace starling
