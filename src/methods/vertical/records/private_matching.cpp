#include "private_matching.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/ranges.h>

#include "console/pass.hpp"
#include "core/check.hpp"
#include "core/digest.hpp"
#include "model/network/network.hpp"
#include "net/peers/peers.hpp"
#include "output/model_file/saved_model.hpp"
#include "privacy/matching/blinded_ids.hpp"
#include "run/identity/introductions.hpp"

namespace starling {

namespace {

using Words = std::vector<std::uint64_t>;

/// Ids that every party blinds between two messages: a tenth of a second.
constexpr std::size_t ids_at_once = 1024;

/// The hosted parties of a matching.
class Ring {
 public:
  Ring(const MatchingPlace& place, std::vector<IdBlinder> own)
      : place_(place), peers_(place.world, place.layout, "matching ids"), own_(std::move(own)) {
    for (Client u = place.layout.first(rank()); u < place.layout.first(rank()) + place.layout.count(rank()); ++u) {
      if (u > 0) clients_.push_back(u);
    }
    std::vector<std::int64_t> sizes;
    for (const IdBlinder& each : own_) sizes.push_back(static_cast<std::int64_t>(each.size()));
    for (const auto& of_rank : place.agreement.all_gather(declare_public(sizes))) {
      for (const std::int64_t size : of_rank) sizes_.push_back(static_cast<std::size_t>(size));
    }
  }

  [[nodiscard]] const std::vector<std::size_t>& sizes() const { return sizes_; }
  [[nodiscard]] const std::vector<IdBlinder>& own() const { return own_; }
  [[nodiscard]] const std::vector<Client>& clients() const { return clients_; }

  /// Each list of ids goes through all parties, one after the other, and from the last one to client 0. Returns the
  /// rows of each hosted party's ids that are in all lists. No rank waits longer than for a piece of a list.
  [[nodiscard]] std::vector<std::vector<std::size_t>> common_rows() {
    Progress progress(clients_.empty() || clients_.front() != 1 ? ProgressChoice::off : place_.progress);
    progress.begin("matching", nullptr, "ids");
    std::vector<Words> held(clients_.size());
    for (std::size_t step = 0; step < parties(); ++step) held = passed_on(step, held, progress);
    progress.end();
    return marked_rows(compared());
  }

  /// Party 1's key at the others; zeros without introductions.
  [[nodiscard]] NoiseKey common_secret(const std::string& what) {
    NoiseKey secret(NoiseKey::Bytes{});
    if (place_.introductions == nullptr) return secret;
    const std::string purpose = "order of matched records, " + what;
    const auto pad = [&](Client of, Client to) {
      const int other = place_.layout.rank_of(place_.layout.rank_of(of) == rank() ? to : of);
      return other == rank() ? NoiseKey(NoiseKey::Bytes{})
                             : place_.introductions->pair_key(other, fmt::format("{}, to party {}", purpose, to));
    };
    std::vector<PeerMessage> sent;
    std::vector<ExpectedMessage> expected;
    const bool is_first = !clients_.empty() && clients_.front() == 1;
    if (is_first) {
      secret = place_.introductions->lasting_key(1, "order of matched records");
      for (Client to = 2; to <= static_cast<Client>(parties()); ++to) {
        sent.push_back({1, to, HiddenKey::under(pad(1, to), secret)});
      }
    }
    for (const Client to : clients_) {
      if (to > 1) expected.push_back({1, to, words_of_point});
    }
    const std::vector<Words> received = peers_.exchange(sent, expected);
    if (is_first || expected.empty()) return secret;
    NoiseKey::Bytes hidden;
    std::memcpy(hidden.data(), received.front().data(), hidden.size());
    const Words shown = HiddenKey::under(pad(1, expected.front().to), NoiseKey(hidden)).words();
    std::memcpy(hidden.data(), shown.data(), hidden.size());
    return NoiseKey(hidden);
  }

 private:
  [[nodiscard]] int rank() const { return place_.world.rank(); }
  [[nodiscard]] std::size_t parties() const { return sizes_.size(); }
  /// The party whose ids a party has after so many steps. Parties count from 0.
  [[nodiscard]] std::size_t list_at(std::size_t party, std::size_t step) const {
    return (party + parties() - step) % parties();
  }
  /// The client that gets what a party sends in a step.
  [[nodiscard]] Client next(std::size_t party, std::size_t step) const {
    return step + 1 == parties() ? 0 : static_cast<Client>((party + 1) % parties() + 1);
  }

  /// One step: every party blinds the list that it holds, and sends it on piece by piece. Returns the lists that the
  /// hosted parties hold then; client 0's are in `whole_` after the last step.
  [[nodiscard]] std::vector<Words> passed_on(std::size_t step, const std::vector<Words>& held, Progress& progress) {
    std::vector<Words> next_held(clients_.size());
    const bool last = step + 1 == parties();
    if (last) whole_.assign(rank() == 0 ? parties() : 0, {});
    const std::size_t most = *std::max_element(sizes_.begin(), sizes_.end());
    for (std::size_t first = 0; first < most; first += ids_at_once) {
      const auto piece = [&](std::size_t list) {
        return sizes_[list] > first ? std::min(ids_at_once, sizes_[list] - first) : 0;
      };
      std::vector<PeerMessage> sent;
      for (std::size_t k = 0; k < clients_.size(); ++k) {
        const auto party = static_cast<std::size_t>(clients_[k] - 1);
        const std::size_t count = piece(list_at(party, step));
        if (count == 0) continue;
        sent.push_back({clients_[k], next(party, step), blinded_piece(k, step, held, first, count)});
        if (party == 0) progress.tick(static_cast<std::int64_t>(count));
      }
      std::vector<ExpectedMessage> expected;
      std::vector<Words*> places;
      for (std::size_t party = 0; party < parties(); ++party) {
        const std::size_t list = list_at(party, step);
        const Client to = next(party, step);
        if (piece(list) == 0 || place_.layout.rank_of(to) != rank()) continue;
        expected.push_back({static_cast<Client>(party + 1), to, piece(list) * words_of_point});
        places.push_back(last ? &whole_[list] : &next_held[static_cast<std::size_t>(to - clients_.front())]);
      }
      const std::vector<Words> received = peers_.exchange(sent, expected);
      for (std::size_t i = 0; i < received.size(); ++i) {
        places[i]->insert(places[i]->end(), received[i].begin(), received[i].end());
      }
    }
    return next_held;
  }

  [[nodiscard]] Masked blinded_piece(std::size_t k, std::size_t step, const std::vector<Words>& held, std::size_t first,
                                     std::size_t count) const {
    if (step == 0) return own_[k].own(first, count);
    return own_[k].blinded(std::span(held[k]).subspan(first * words_of_point, count * words_of_point));
  }

  /// The result of client 0's comparison, as the parties of this rank receive it.
  [[nodiscard]] std::vector<Words> compared() {
    std::vector<PeerMessage> sent;
    if (rank() == 0) {
      std::vector<Masked> marks = BlindedIds::marks_of_common(whole_);
      for (std::size_t party = 0; party < parties(); ++party) {
        sent.push_back({0, static_cast<Client>(party + 1), std::move(marks[party])});
      }
    }
    std::vector<ExpectedMessage> expected;
    for (const Client to : clients_) {
      expected.push_back({0, to, (sizes_[static_cast<std::size_t>(to - 1)] + 63) / 64});
    }
    return peers_.exchange(sent, expected);
  }

  [[nodiscard]] std::vector<std::vector<std::size_t>> marked_rows(const std::vector<Words>& marks) const {
    std::vector<std::vector<std::size_t>> rows;
    for (std::size_t k = 0; k < own_.size(); ++k) rows.push_back(own_[k].rows(marks[k]));
    return rows;
  }

  const MatchingPlace& place_;
  Peers peers_;
  std::vector<IdBlinder> own_;
  std::vector<Client> clients_;     ///< of the hosted parties
  std::vector<std::size_t> sizes_;  ///< of all parties
  std::vector<Words> whole_;        ///< on rank 0: each party's list, blinded by all
};

/// The number of common records, which all parties have found alike. **Collective.**
std::int64_t agreed_count(const MatchingPlace& place, const std::vector<std::size_t>& sizes,
                          const std::vector<MatchedOrder>& orders) {
  std::string own;
  for (const MatchedOrder& order : orders) {
    const std::string digest = place.key.digest("matched records", order.digest());
    own += fmt::format("{} {}\n", order.rows().size(), digest);
  }
  const std::vector<std::string> all = place.agreement.all_gather(declare_public(own));
  std::int64_t count = 0;
  place.agreement.together([&] {
    std::string first;
    for (const std::string& of_rank : all) {
      for (std::size_t at = 0; at < of_rank.size();) {
        const std::size_t end = of_rank.find('\n', at);
        const std::string found = of_rank.substr(at, end - at);
        if (first.empty()) first = found;
        check<FailureError>(found == first,
                            "--match private: parties have found other common records: messages between them were "
                            "changed, or a party does not follow the protocol. Find out who.");
        at = end + 1;
      }
    }
    count = std::stoll(first);
    check<DataError>(count > 0,
                     "--id: none of {} records is in all parties' files: nothing is common. Give files of the same "
                     "people; ids are compared as texts, so write them alike.",
                     fmt::join(sizes, ", "));
  });
  return count;
}

/// Persons of matched records, numbered from 0 in the order of their first records.
std::vector<std::int64_t> matched_persons(const std::vector<std::int64_t>& persons,
                                          const std::vector<std::size_t>& rows) {
  std::vector<std::int64_t> result;
  std::vector<std::int64_t> numbers(2 * persons.size() + 1, -1);
  std::int64_t next = 0;
  for (const std::size_t row : rows) {
    const std::int64_t person = persons[row];
    std::int64_t& number = numbers[static_cast<std::size_t>(person < 0 ? -1 - person : person)];
    if (number < 0) number = next++;
    result.push_back(person < 0 ? -1 - number : number);
  }
  return result;
}

/// A file that has the constants of labels and says nothing else.
std::string bytes_of_constants(const PublicConstants& constants) {
  SavedModel carrier;
  carrier.form = HeadForm{PartForm{{perceptron({1, 1}), Precision::full}, 1}};
  carrier.loss = "squared";
  carrier.features = 1;
  carrier.parameters.assign(2, 0.0);
  carrier.constants = constants;
  return file_of_model(carrier);
}

}  // namespace

int rank_of_labels(const Layout& layout, std::size_t labels_at) {
  return layout.rank_of(static_cast<Client>(labels_at + 1));
}

void match_in_private(const MatchingPlace& place, const std::string& what, std::size_t labels_at,
                      VerticalDataset& dataset) {
  std::vector<IdBlinder> own;
  const int rank = place.world.rank();
  const Client first = std::max<Client>(place.layout.first(rank), 1);
  const Client behind = place.layout.first(rank) + place.layout.count(rank);
  place.agreement.together([&] {
    for (Client u = first; u < behind; ++u) own.emplace_back(dataset.stream->ids(static_cast<std::size_t>(u - first)));
  });
  Ring ring(place, std::move(own));
  const std::vector<std::vector<std::size_t>> rows = ring.common_rows();
  const NoiseKey secret = ring.common_secret(what);
  std::vector<MatchedOrder> orders;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    orders.emplace_back(rows[k], ring.own()[k].ids(), secret, place.seed);
  }
  dataset.shape.records = agreed_count(place, ring.sizes(), orders);
  dataset.matched_rows.clear();
  for (const MatchedOrder& order : orders) dataset.matched_rows.push_back(order.rows());
  const auto hosts_labels = [&](Client u) { return static_cast<std::size_t>(u - 1) == labels_at; };
  std::optional<std::size_t> labels_of;
  for (Client u = first; u < behind; ++u) {
    if (hosts_labels(u)) labels_of = static_cast<std::size_t>(u - first);
  }
  std::int64_t rounds = 0;
  place.agreement.together([&] {
    if (!rows.empty()) rounds = dataset.stream->match(dataset.matched_rows, labels_of).value_or(0);
    dataset.stream->settle(dataset.shape);
    if (rows.empty()) return;
    const std::vector<std::string>& ids = dataset.stream->ids(0);
    dataset.ids.clear();
    for (const std::size_t row : dataset.matched_rows.front()) dataset.ids.push_back(id_digest(ids[row]));
    if (!labels_of) return;
    std::vector<std::string> texts;
    for (const std::size_t row : dataset.matched_rows[*labels_of]) texts.push_back(dataset.id_texts[row]);
    dataset.id_texts = std::move(texts);
    if (!dataset.persons.empty()) {
      dataset.persons = matched_persons(dataset.persons, dataset.matched_rows[*labels_of]);
    }
  });
  dataset.shape.rounds = place.agreement.max(declare_public(rounds));
}

void hand_labels_over(const MatchingPlace& place, std::size_t labels_at, LabelReceivers receivers,
                      const LabelRelease& release, VerticalDataset& dataset) {
  const int from = rank_of_labels(place.layout, labels_at);
  const bool has_labels = place.world.rank() == from;
  std::string constants;
  Released<Vector> labels = declare_public(Vector());
  place.agreement.together([&] {
    if (!has_labels) return;
    constants = bytes_of_constants(dataset.label_constants);
    if (receivers != LabelReceivers::nobody) release(dataset.stream->matched_targets(), labels);
  });
  constants = place.key.broadcast(constants, from);
  std::vector<Released<Vector>> parts;
  for (int r = 0; r < place.world.size(); ++r) {
    const bool receives = r != from && (receivers == LabelReceivers::all_ranks || r == 0);
    parts.push_back(receives ? labels : Released<Vector>(declare_public(Vector())));
  }
  if (receivers == LabelReceivers::nobody) {
    parts.assign(parts.size(), Released<Vector>(declare_public(Vector())));
  }
  const std::vector<Vector> received = place.agreement.exchange(parts);
  place.agreement.together([&] {
    if (place.world.rank() == 0 && !has_labels) dataset.label_constants = model_in(constants).constants;
    const Vector& own = received[static_cast<std::size_t>(from)];
    if (has_labels || own.empty()) return;
    dataset.label_fingerprint = sha256({reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double)});
    dataset.received_targets = Secret<Vector>(own);
    dataset.stream->take_targets(*dataset.received_targets);
  });
}

}  // namespace starling
