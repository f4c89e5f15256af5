#include "core/regrouping.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr std::size_t word = sizeof(std::uint64_t);

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  check<DataError>(at <= bytes.size() && bytes.size() - at >= word, "a section ends before a number");
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, word);
  return value;
}

void append_word(std::string& text, std::uint64_t value) {
  text.append(reinterpret_cast<const char*>(&value), word);
}

struct Section {
  char kind = 0;
  std::string_view bytes;
};

/// Takes the first section off the text.
Section take_section(std::string_view& text) {
  check<DataError>(text.size() > word, "it ends before a section");
  const char kind = text.front();
  const std::uint64_t bytes = word_at(text, 1);
  text.remove_prefix(1 + word);
  check<DataError>(bytes <= text.size(), "a section of {} bytes, where {} are left", bytes, text.size());
  const Section section{kind, text.substr(0, bytes)};
  text.remove_prefix(bytes);
  return section;
}

/// The entries of a section, each with its client.
struct Entries {
  std::vector<Client> clients;
  std::vector<std::string_view> bytes;
};

/// The entries of a section whose kind is clients (of `group`) or by_client.
Entries entries_of(const Section& section, const ClientGroup& group) {
  Entries entries;
  const std::string_view all = section.bytes;
  const std::uint64_t count = word_at(all, 0);
  const bool named = section.kind == static_cast<char>(SectionKind::by_client);
  check<DataError>(count <= all.size(), "a section of {} entries in {} bytes", count, all.size());
  check<DataError>(named || count == 0 || count == static_cast<std::uint64_t>(group.count),
                   "a section of {} entries for {} clients", count, group.count);
  std::size_t at = word;
  for (std::uint64_t k = 0; k < count; ++k) {
    Client client = group.first + static_cast<Client>(k);
    if (named) {
      check<DataError>(all.size() - at >= sizeof client, "a section ends before a client");
      std::memcpy(&client, all.data() + at, sizeof client);
      at += sizeof client;
    }
    entries.clients.push_back(client);
  }
  const std::uint64_t common = word_at(all, all.size() - word);
  const std::size_t tail = word + (common == sizes_differ ? static_cast<std::size_t>(count) * word : 0);
  check<DataError>(tail <= all.size() && at <= all.size() - tail, "a section ends before the sizes of its entries");
  std::size_t left = all.size() - tail - at;
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t size = common == sizes_differ ? word_at(all, all.size() - tail + k * word) : common;
    check<DataError>(size <= left, "an entry of {} bytes, where {} are left", size, left);
    entries.bytes.push_back(all.substr(at, size));
    at += size;
    left -= size;
  }
  check<DataError>(left == 0, "{} bytes of a section belong to no entry", left);
  return entries;
}

/// A section of these entries.
std::string write_entries(const Entries& entries, bool named) {
  std::string text;
  append_word(text, entries.bytes.size());
  for (std::size_t k = 0; named && k < entries.clients.size(); ++k) {
    text.append(reinterpret_cast<const char*>(&entries.clients[k]), sizeof(Client));
  }
  bool alike = true;
  for (const std::string_view& each : entries.bytes) {
    text += each;
    alike = alike && each.size() == entries.bytes.front().size();
  }
  for (std::size_t k = 0; !alike && k < entries.bytes.size(); ++k) append_word(text, entries.bytes[k].size());
  append_word(text, !alike ? sizes_differ : entries.bytes.empty() ? 0 : entries.bytes.front().size());
  return text;
}

template <class T>
void add(std::string& sum, std::size_t at, std::string_view number) {
  T here{};
  T more{};
  std::memcpy(&here, sum.data() + at, sizeof here);
  std::memcpy(&more, number.data() + at, sizeof more);
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    here |= more;
  } else {
    here += more;
  }
  std::memcpy(sum.data() + at, &here, sizeof here);
}

/// Adds the numbers of a section of sums.
void add_sums(std::string& sum, std::string_view numbers) {
  for (std::size_t at = 0; at < sum.size(); at += 1 + word) {
    check<DataError>(sum.size() - at > word && sum[at] == numbers[at], "sums of different numbers");
    switch (static_cast<SumKind>(sum[at])) {
      case SumKind::real:
        add<double>(sum, at + 1, numbers);
        break;
      case SumKind::integer:
        add<std::int64_t>(sum, at + 1, numbers);
        break;
      case SumKind::bits:
        add<std::uint64_t>(sum, at + 1, numbers);
        break;
      default:
        throw DataError("a sum of unknown numbers");
    }
  }
}

/// A section of sums with all numbers 0.
std::string no_sums(std::string_view numbers) {
  std::string sums(numbers);
  for (std::size_t at = 0; at < sums.size(); at += 1 + word) {
    check<DataError>(sums.size() - at > word, "a section ends before a number");
    std::memset(sums.data() + at + 1, 0, word);
  }
  return sums;
}

/// Walks through the sections of all parts in step.
class Regrouping {
 public:
  Regrouping(const std::vector<ClientGroup>& groups, const std::vector<std::string>& contents, const ClientGroup& group,
             const std::vector<Client>& lost)
      : groups_(groups), group_(group), lost_(lost), rest_(contents.begin(), contents.end()) {}

  std::string result() {
    std::string text;
    while (!rest_.front().empty()) {
      const std::vector<Section> sections = take_sections();
      const std::string bytes = together(sections);
      text += sections.front().kind;
      append_word(text, bytes.size());
      text += bytes;
    }
    for (const std::string_view& rest : rest_) check<DataError>(rest.empty(), "one part has more than another");
    return text;
  }

 private:
  std::vector<Section> take_sections() {
    std::vector<Section> sections;
    for (std::string_view& rest : rest_) sections.push_back(take_section(rest));
    for (const Section& each : sections) {
      check<DataError>(each.kind == sections.front().kind, "sections of different kinds, '{}' and '{}'",
                       sections.front().kind, each.kind);
    }
    return sections;
  }

  [[nodiscard]] std::string together(const std::vector<Section>& sections) const {
    const std::string_view first = sections.front().bytes;
    switch (static_cast<SectionKind>(sections.front().kind)) {
      case SectionKind::same:
        for (const Section& each : sections)
          check<DataError>(each.bytes == first, "parts that are not after one round");
        return std::string(first);
      case SectionKind::any_rank:
        return std::string(first);
      case SectionKind::group:
        return groups_.front() == group_ ? std::string(first) : "";
      case SectionKind::sums:
        return sums(sections);
      case SectionKind::clients:
        return entries(sections, false);
      case SectionKind::by_client:
        return entries(sections, true);
    }
    throw DataError(fmt::format("a section of unknown kind '{}'", sections.front().kind));
  }

  [[nodiscard]] std::string sums(const std::vector<Section>& sections) const {
    std::string sums = no_sums(sections.front().bytes);
    for (std::size_t p = 0; p < sections.size(); ++p) {
      check<DataError>(sections[p].bytes.size() == sums.size(), "sums of different numbers");
      if (group_.has(groups_[p].first)) add_sums(sums, sections[p].bytes);
    }
    return sums;
  }

  [[nodiscard]] std::string entries(const std::vector<Section>& sections, bool named) const {
    Entries own;
    bool any = false;
    for (std::size_t p = 0; p < sections.size(); ++p) {
      const Entries of_part = entries_of(sections[p], groups_[p]);
      any = any || !of_part.clients.empty();
      for (std::size_t k = 0; k < of_part.clients.size(); ++k) {
        if (!group_.has(of_part.clients[k])) continue;
        own.clients.push_back(of_part.clients[k]);
        own.bytes.push_back(of_part.bytes[k]);
      }
    }
    if (!named && any) add_lost(own);
    check<DataError>(named || !any || own.clients.size() == static_cast<std::size_t>(group_.count),
                     "entries of {} clients, of {}", own.clients.size(), group_.count);
    return write_entries(own, named);
  }

  /// Entries without bytes for clients of the group that no part has.
  void add_lost(Entries& own) const {
    for (const Client u : lost_) {
      const auto place = std::lower_bound(own.clients.begin(), own.clients.end(), u);
      if (!group_.has(u) || (place != own.clients.end() && *place == u)) continue;
      own.bytes.insert(own.bytes.begin() + (place - own.clients.begin()), std::string_view());
      own.clients.insert(place, u);
    }
  }

  const std::vector<ClientGroup>& groups_;
  ClientGroup group_;
  const std::vector<Client>& lost_;
  std::vector<std::string_view> rest_;
};

void require_all_clients(const std::vector<ClientGroup>& groups, const ClientGroup& group,
                         const std::vector<Client>& lost) {
  Client next = group.first;
  const auto pass_lost = [&] {
    while (next < group.end() && std::binary_search(lost.begin(), lost.end(), next)) ++next;
  };
  for (const ClientGroup& each : groups) {
    const bool meets = each.meets(group);
    if (each.first > next) pass_lost();
    if (!meets && !lost.empty()) continue;
    check<DataError>(meets && each.first <= next, "there is no part for client {}", next);
    next = std::max(next, each.end());
  }
  pass_lost();
  check<DataError>(next >= group.end(), "there is no part for client {}", next);
}

}  // namespace

Secret<std::string> regroup(const std::vector<GroupSnapshot>& parts, const ClientGroup& group,
                            const std::vector<Client>& lost) {
  std::vector<ClientGroup> groups;
  Secret<std::vector<std::string>> contents;
  for (const GroupSnapshot& part : parts) {
    groups.push_back(part.group);
    contents.update([](std::vector<std::string>& all, const std::string& one) { all.push_back(one); }, part.content);
  }
  check<DataError>(!parts.empty(), "there are no parts");
  if (group.count > 0) require_all_clients(groups, group, lost);
  return contents.map(
      [&](const std::vector<std::string>& all) { return Regrouping(groups, all, group, lost).result(); });
}

}  // namespace starling
