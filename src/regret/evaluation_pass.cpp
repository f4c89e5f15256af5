#include "regret/evaluation_pass.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

ReplayedRecords::ReplayedRecords(const EvaluationData& data)
    : spans_(std::max<std::size_t>(data.marks.size(), 1)), clients_(data.streams.size()) {
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    ClientRecords& client = clients_[k];
    Stream& stream = *data.streams[k];
    client.spans.resize(spans_);
    client.firsts.assign(1, 0);
    data.rounds[k].for_each([&](Round t) {
      check<DataError>(!stream.ended(t), "a source ends before round {} of {} that were played: has it changed since?",
                       t, data.rounds[k].size());
      while (client.firsts.size() < spans_ && t >= data.marks[client.firsts.size() - 1]) {
        client.firsts.push_back(client.rounds.size());
      }
      append(stream.next(t), client.spans[client.firsts.size() - 1]);
      client.rounds.push_back(t);
    });
    client.firsts.resize(spans_ + 1, client.rounds.size());
  }
}

void ReplayedRecords::append(const Secret<Batch>& batch, Secret<RecordSpan>& span) {
  span.update(
      [](RecordSpan& all, const Batch& one) {
        for (std::size_t i = 0; i < one.size(); ++i) all.records.add(one.row(i), one.label(i));
        all.ends.push_back(all.records.size());
      },
      batch);
}

void ReplayedRecords::read(std::size_t k, std::size_t i, Secret<Batch>& batch) const {
  const ClientRecords& client = clients_[k];
  const auto beyond = std::upper_bound(client.firsts.begin(), client.firsts.end() - 1, i);
  const auto s = static_cast<std::size_t>(beyond - client.firsts.begin()) - 1;
  const std::size_t number = i - client.firsts[s];
  batch.update(
      [number](Batch& one, const RecordSpan& all) {
        one.clear();
        for (std::size_t j = all.ends[number]; j < all.ends[number + 1]; ++j) {
          one.add(all.records.row(j), all.records.label(j));
        }
      },
      client.spans[s]);
}

void RoundLoss::add(View x, const Batch& records, double rounds, MutableView part) {
  const Score score = model_.evaluate(x, records, Clip{}, gradient_);
  const MutableView slope = part.first(x.size());
  axpy(1 / batch_, gradient_, slope);
  l2_.add_gradient(rounds, x, slope);
  part[x.size()] += score.loss / batch_ + l2_.value(x, rounds);
}

double RoundLoss::value(View x, const Batch& records, double rounds) {
  return model_.score(x, records).loss / batch_ + l2_.value(x, rounds);
}

EvaluationPass::EvaluationPass(Agreement& agreement, const MetricsPolicy& policy, Model& model, Domain& domain,
                               const EvaluationData& data, std::function<bool()> interrupted)
    : agreement_(agreement),
      policy_(policy),
      model_(model),
      domain_(domain),
      data_(data),
      interrupted_(std::move(interrupted)),
      marks_(data.marks) {
  check(policy.shared(), "regret needs shared metrics: its comparator is fitted to all records without noise.");
  agreement_.together([&] { records_.emplace(data); });
  if (marks_.empty()) {
    Round own = 0;
    for (const RoundSet& rounds : data.rounds) own = std::max(own, rounds.end());
    marks_.push_back(agreement_.max(declare_public(own)));
  }
  played_ = total(data.played, marks_.size(), SharedFigure::played_losses);
  Columns counts(marks_.size(), data.rounds.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    for (std::size_t j = 0; j < marks_.size(); ++j)
      counts[k][j] = static_cast<double>(data.rounds[k].before(marks_[j]));
  }
  client_rounds_ = agreement_.ordered_sum(Released<Columns>(declare_public(std::move(counts))));
  check(client_rounds_.back() > 0, "there is no regret to report: no client took a step.");
}

Vector EvaluationPass::total(const Secret<Columns>& columns, SharedFigure figure) const {
  return agreement_.ordered_sum(*policy_.share(columns, figure));
}

Vector EvaluationPass::total(const std::vector<Secret<Vector>>& vectors, std::size_t length,
                             SharedFigure figure) const {
  Secret<Columns> columns(Columns(length, vectors.size()));
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    columns.update([k](Columns& all, const Vector& one) { all.set(k, one); }, vectors[k]);
  }
  return total(columns, figure);
}

}  // namespace starling
