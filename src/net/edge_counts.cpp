#include "edge_counts.hpp"

#include <algorithm>

namespace starling {

void EdgeCounts::only_of(std::vector<Client> senders) {
  std::sort(senders.begin(), senders.end());
  senders_ = std::move(senders);
}

bool EdgeCounts::counts(Client from) const {
  return !senders_ || std::binary_search(senders_->begin(), senders_->end(), from);
}

// The plans of a graph that repeats have the same edges again and again; such edges need no new memory.
void EdgeCounts::add(const std::vector<Edge>& edges, std::int64_t messages, std::int64_t others) {
  others_ += others;
  if (edges.empty() || messages == 0) return;
  std::vector<Edge> copy;
  if (!std::is_sorted(edges.begin(), edges.end())) {
    copy = edges;
    std::sort(copy.begin(), copy.end());
  }
  const std::vector<Edge>& sorted = copy.empty() ? edges : copy;
  std::vector<Count> added;
  const std::size_t different = known_.size() + recent_.size();
  auto known = known_.begin();
  for (const Edge& edge : sorted) {
    known = std::lower_bound(known, known_.end(), edge,
                             [](const Count& count, const Edge& each) { return count.edge < each; });
    if (known != known_.end() && known->edge == edge) {
      known->messages += messages;
    } else if (!added.empty() && added.back().edge == edge) {
      added.back().messages += messages;
    } else if (const auto recent = recent_.find(edge); recent != recent_.end()) {
      recent->second += messages;
    } else if (different + added.size() < most_edges) {
      if (added.empty()) added.reserve(std::min(most_edges - different, sorted.size()));
      added.push_back({edge, messages});
    } else {
      others_ += messages;
    }
  }
  // A merge touches all that are known, but each of them much more cheaply than a table takes a new one.
  if (added.size() <= known_.size() / 64 && recent_.size() + added.size() <= known_.size() / 4) {
    for (const Count& count : added) recent_.emplace(count.edge, count.messages);
    return;
  }
  merge(added, recent());
  recent_.clear();
  merge(known_, added);
}

void EdgeCounts::merge(std::vector<Count>& known, const std::vector<Count>& added) {
  const auto middle = static_cast<std::ptrdiff_t>(known.size());
  known.insert(known.end(), added.begin(), added.end());
  std::inplace_merge(known.begin(), known.begin() + middle, known.end(),
                     [](const Count& a, const Count& b) { return a.edge < b.edge; });
}

std::vector<EdgeCounts::Count> EdgeCounts::recent() const {
  std::vector<Count> result;
  result.reserve(recent_.size());
  for (const auto& [edge, messages] : recent_) result.push_back({edge, messages});
  std::sort(result.begin(), result.end(), [](const Count& a, const Count& b) { return a.edge < b.edge; });
  return result;
}

void EdgeCounts::persist(Snapshot& snapshot) {
  merge(known_, recent());
  recent_.clear();
  snapshot.by_client(known_, [](const Count& count) { return count.edge.first; });
  snapshot.sums(others_);
}

std::vector<EdgeTraffic> EdgeCounts::list(std::int64_t bytes_per_message) const {
  std::vector<Count> all = known_;
  merge(all, recent());
  std::vector<EdgeTraffic> result;
  result.reserve(all.size() + 1);
  for (const Count& count : all) {
    result.push_back({count.edge.first, count.edge.second, count.messages, count.messages * bytes_per_message});
  }
  if (others_ > 0) result.push_back({-1, -1, others_, others_ * bytes_per_message});
  return result;
}

}  // namespace starling
