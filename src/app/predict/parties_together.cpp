#include "parties_together.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "files/tell_user.hpp"
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
      layout_(Layout::with_centre(static_cast<Client>(choice.parties.size()), world.size())) {
  agreement_.together([&] { read_parts(choice); });
  agree_on_parts(choice);
  open_records(choice, labels);
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
  loss_.emplace(*head_);
  units_.emplace(*head_, **loss_);
  network_ = make_network_block(head_->as<HeadForm>()->architecture, head_->as<HeadForm>()->precision);
}

/// All parts are of one run.
void PartiesTogether::agree_on_parts(const ModelSource& choice) {
  const auto runs = agreement_.all_gather(declare_public(run_));
  const std::size_t inputs = head_ ? head_->features : 0;
  width_ = static_cast<std::size_t>(agreement_.max(declare_public(static_cast<std::int64_t>(inputs)))) /
           choice.parties.size();
  const bool doubles = head_ && head_->as<HeadForm>()->precision == Precision::full;
  quantiser_ = quantiser_table().make(agreement_.broadcast(declare_public(doubles)) ? "float64" : "float32");
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
  agreement_.together([&] {
    records_ =
        open_vertical(settings_of(choice, labels), choice.parties.size(), first_party(), parts_.size(), is_first());
  });
  records_.shape = joined_shape(agreement_, records_);
  RankKey key(agreement_);
  align_records(agreement_, key, records_);
  if (is_first() && choice.reading.id.empty()) {
    tell_user("note: no --id: records of the parties' files go together by their place\n");
  }
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
  const auto take = [&](const std::vector<Vector>& received) {
    DeclaredPublic::publish(stream.targets(), targets);
    records.labels = targets.value();
    apply_head(received, records);
    look(records);
    records.first += static_cast<std::int64_t>(records.size());
  };
  const std::vector<std::size_t> widths(static_cast<std::size_t>(layout_.clients() - 1), width_);
  send_held_out(root, stream, {widths, *quantiser_, rows, take});
}

void PartiesTogether::apply_head(const std::vector<Vector>& received, ScoredRecords& records) {
  embeddings_.resize(received.size() * received[0].size());
  for (std::size_t k = 0; k < received.size(); ++k) put_part(received[k], received.size(), k, width_, embeddings_);
  const View outputs = network_->forward(head_->parameters, embeddings_);
  records.scores.assign(outputs.begin(), outputs.end());
  if (!records_.id_texts.empty()) {
    const auto first = records_.id_texts.begin() + records.first;
    records.keys.assign(first, first + static_cast<std::int64_t>(records.size()));
  }
  if (!units_->differ()) return;
  for (double& score : records.scores) score = units_->own(score);
  for (double& label : records.labels) label = units_->own(label);
}

}  // namespace starling
