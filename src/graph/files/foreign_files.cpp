// Topologies in the formats of others: MatrixMarket, and edge lists as NetworkX writes them. Total, as the reader of
// `.topo` files is: any bytes give a topology or a UsageError.
#include <algorithm>
#include <cctype>
#include <optional>

#include "files/text.hpp"
#include "graph/topology.hpp"
#include "text_lines.hpp"

namespace starling {

namespace {

/// Self loops say nothing where the rule sets the weights: every client keeps a share anyway.
void drop_self_loops(std::vector<Edge>& edges) {
  std::erase_if(edges, [](const Edge& edge) { return edge.from == edge.to; });
}

class MatrixMarket {
 public:
  MatrixMarket(std::string_view text, const std::string& name) : lines_(text, name) {}

  Topology run() {
    read_banner();
    read_size();
    LineWords words;
    while (next(words)) array_ ? read_number(words) : read_entry(words);
    check(read_ == entries_, "{}: {} entries: line {} announces {}: the file may be cut off. Write it anew.",
          lines_.name(), read_, size_line_, entries_);
    if (pattern_) drop_self_loops(edges_);
    return {clients_, pattern_ ? WeightRule::sender : WeightRule::explicit_weights, edges_, {}, lines_.name()};
  }

 private:
  void read_banner() {
    std::string_view line;
    check(lines_.next(line), "{}: empty, without MatrixMarket banner: it may be cut off. Write it anew.",
          lines_.name());
    std::string lower(line);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const LineWords words = split_words(lower);
    lines_.require(words.size() == 5 && words[0] == "%%matrixmarket" && words[1] == "matrix",
                   "no MatrixMarket banner: the first line is `%%MatrixMarket matrix coordinate real general` or the "
                   "like. Write the file with SciPy's mmwrite, or rename it.");
    array_ = words[2] == "array";
    lines_.require(array_ || words[2] == "coordinate",
                   "format '{}': coordinate and array are read. Write the file anew.", shown(words[2]));
    lines_.require(words[3] == "real" || words[3] == "integer" || words[3] == "pattern",
                   "entries are '{}': only real, integer and pattern are read. Convert them.", shown(words[3]));
    lines_.require(words[4] == "general" || words[4] == "symmetric",
                   "symmetry '{}': only general and symmetric are read. Save it as general.", shown(words[4]));
    pattern_ = words[3] == "pattern";
    lines_.require(!array_ || !pattern_, "an array of patterns: an array holds numbers. Make it coordinate.");
    symmetric_ = words[4] == "symmetric";
  }

  /// The words of the next line that is neither empty nor a comment.
  bool next(LineWords& words) {
    std::string_view line;
    while (lines_.next(line)) {
      if (line.starts_with('%')) continue;
      words = split_words(line);
      if (!words.empty()) return true;
    }
    return false;
  }

  void read_size() {
    LineWords words;
    check(next(words), "{}: no line of sizes: rows, columns and entries follow the banner. Write the file anew.",
          lines_.name());
    lines_.require(words.size() == (array_ ? 2 : 3), "{} words in the line of sizes: {}. Correct it.", words.size(),
                   array_ ? "rows, columns" : "rows, columns, entries");
    clients_ = static_cast<Client>(lines_.integer(words[0], "rows", 1, max_clients));
    const long long columns = lines_.integer(words[1], "columns", 1, max_clients);
    lines_.require(columns == clients_, "{} rows and {} columns: who receives and who sends: as many. Correct it.",
                   clients_, columns);
    if (array_) {
      entries_ = static_cast<long long>(clients_) * (symmetric_ ? clients_ + 1 : 2 * clients_) / 2;
      lines_.require(entries_ <= max_entries, "an array of {} numbers: at most {}. Save it as a sparse matrix.",
                     entries_, max_entries);
    } else {
      entries_ = lines_.integer(words[2], "entries", 0, max_entries);
    }
    size_line_ = lines_.number();
  }

  void require_more_entries() const {
    lines_.require(read_ < entries_, "more entries than the {} that line {} announces, correct that line", entries_,
                   size_line_);
  }

  void add(const Edge& edge) {
    edges_.push_back(edge);
    if (symmetric_ && edge.from != edge.to) edges_.push_back({edge.to, edge.from, edge.weight, edge.line});
    ++read_;
  }

  /// A number of an array: columns one after the other, of a symmetric one from the diagonal down.
  void read_number(const LineWords& words) {
    require_more_entries();
    lines_.require(words.size() == 1, "{} words in a line of an array: one number. Correct the line.", words.size());
    add({column_, row_, lines_.weight(words[0]), lines_.number()});
    if (++row_ < clients_) return;
    ++column_;
    row_ = symmetric_ ? column_ : 0;
  }

  void read_entry(const LineWords& words) {
    const std::size_t width = pattern_ ? 2 : 3;
    require_more_entries();
    lines_.require(words.size() == width, "{} words in an entry: its form is `{}`. Correct the line.", words.size(),
                   pattern_ ? "ROW COLUMN" : "ROW COLUMN WEIGHT");
    Edge edge;
    edge.line = lines_.number();
    edge.to = static_cast<Client>(lines_.integer(words[0], "row", 1, clients_) - 1);
    edge.from = static_cast<Client>(lines_.integer(words[1], "column", 1, clients_) - 1);
    if (!pattern_) edge.weight = lines_.weight(words[2]);
    add(edge);
  }

  static constexpr long long max_entries = 30'000'000;
  TextLines lines_;
  bool array_ = false;
  bool pattern_ = false;
  bool symmetric_ = false;
  Client clients_ = 0;
  long long entries_ = 0;
  long long read_ = 0;
  Client row_ = 0;  // of the next number of an array
  Client column_ = 0;
  std::int64_t size_line_ = 0;
  std::vector<Edge> edges_;
};

/// The attributes of an edge, as Python writes a dictionary.
class Attributes {
 public:
  /// The text between the braces.
  explicit Attributes(std::string_view text) : rest_(text) {}

  /// The next item's key, without quotes, and its value; false at the end, and where there is no item.
  bool next(std::string_view& key, std::string_view& value) {
    key = unquoted(trimmed(take(':')));
    value = trimmed(take(','));
    return !key.empty() && !value.empty();
  }

 private:
  static std::string_view unquoted(std::string_view text) {
    const bool quoted = text.size() >= 2 && is_quote(text.front()) && text.back() == text.front();
    return quoted ? text.substr(1, text.size() - 2) : text;
  }

  static bool is_one_of(char c, std::string_view these) { return these.find(c) != std::string_view::npos; }
  static bool is_quote(char c) { return is_one_of(c, "'\""); }

  /// Text before the next `end` outside quotes and brackets. Skips that character.
  std::string_view take(char end) {
    int depth = 0;
    std::size_t k = 0;
    for (; k < rest_.size() && (depth > 0 || rest_[k] != end); ++k) {
      if (is_quote(rest_[k]))
        k = end_of_quote(k);
      else if (is_one_of(rest_[k], "([{"))
        ++depth;
      else if (is_one_of(rest_[k], ")]}"))
        --depth;
    }
    k = std::min(k, rest_.size());
    const std::string_view taken = rest_.substr(0, k);
    rest_.remove_prefix(std::min(k + 1, rest_.size()));
    return taken;
  }

  /// End of the quote that begins at k; the end of the text if the quote is not closed.
  [[nodiscard]] std::size_t end_of_quote(std::size_t k) const {
    const char quote = rest_[k++];
    while (k < rest_.size() && rest_[k] != quote) k += rest_[k] == '\\' ? 2 : 1;
    return k;
  }

  std::string_view rest_;
};

class EdgeList {
 public:
  EdgeList(std::string_view text, const std::string& name) : lines_(text, name) {}

  Topology run() {
    std::string_view line;
    while (lines_.next(line)) {
      line = line.substr(0, line.find('#'));
      if (!split_words(line).empty()) read_edge(line);
    }
    check(!edges_.empty(), "{}: no edges: each line is `FROM TO WEIGHT` or `FROM TO`. Write some, or a .topo file.",
          lines_.name());
    require_client_0();
    if (!*weighted_) drop_self_loops(edges_);
    return {clients_, *weighted_ ? WeightRule::explicit_weights : WeightRule::sender, edges_, {}, lines_.name()};
  }

 private:
  /// Refuses lists that count clients from 1: all but client 0 have edges.
  void require_client_0() const {
    std::vector<bool> has_edge(static_cast<std::size_t>(clients_), false);
    for (const Edge& edge : edges_) {
      has_edge[static_cast<std::size_t>(edge.from)] = true;
      has_edge[static_cast<std::size_t>(edge.to)] = true;
    }
    const bool from_1 = !has_edge[0] && std::all_of(has_edge.begin() + 1, has_edge.end(), [](bool has) { return has; });
    check(!from_1,
          "{}: clients count from 0, and this list from 1, up to {}. Count from 0: awk {}'!/^#/ {{$1--; $2--}} 1' FILE "
          "> NEW.",
          lines_.name(), clients_ - 1, commas_.value_or(false) ? "-F, -v OFS=, " : "");
  }

  void read_edge(std::string_view line) {
    const auto brace = line.find('{');
    const bool attributed = brace != std::string_view::npos;
    const LineWords words = words_of(line.substr(0, brace), attributed);
    lines_.require(words.size() == 2 || (words.size() == 3 && !attributed),
                   "{} words: an edge is `FROM TO WEIGHT` or `FROM TO`. Correct the line.", words.size());
    lines_.require(
        !edges_.empty() || !is_name(words[0]) || !is_name(words[1]),
        "'{}' and '{}' are no numbers of clients: a row of names, or of nodes with names. Begin a row of names "
        "with #; number nodes from 0, as networkx.convert_node_labels_to_integers(G) does",
        shown(words[0]), shown(words[1]));
    Edge edge;
    edge.line = lines_.number();
    edge.from = end_of_edge(words[0], "sender");
    edge.to = end_of_edge(words[1], "receiver");
    std::optional<double> weight;
    if (words.size() == 3) weight = lines_.weight(words[2]);
    if (attributed) weight = weight_of(line.substr(brace));
    require_like_the_others(weight.has_value());
    edge.weight = weight.value_or(0);
    edges_.push_back(edge);
  }

  static bool is_name(std::string_view word) { return word.find_first_of("0123456789") == std::string_view::npos; }

  /// Blanks part the words, or commas if there is one in the first edge. A comma may stand before attributes.
  LineWords words_of(std::string_view text, bool before_attributes) {
    if (!commas_) commas_ = text.find(',') != std::string_view::npos;
    if (!*commas_) return split_words(text);
    LineWords words;
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t end = std::min(text.find(',', from), text.size());
      const LineWords inner = split_words(text.substr(from, end - from));
      const bool last = end == text.size();
      if (inner.empty() && last && before_attributes) break;
      lines_.require(inner.size() == 1, "{} words between commas: there is one. Correct the line.", inner.size());
      words.push_back(inner[0]);
      from = end + 1;
    }
    return words;
  }

  /// The weight among attributes in braces; none where there are no attributes. Others beside the weight mean nothing
  /// here.
  std::optional<double> weight_of(std::string_view braces) const {
    const auto end = braces.find_last_not_of(" \t\r\v\f");
    lines_.require(braces[end] == '}',
                   "attributes without closing brace: the line may be cut off. Write the file anew.");
    const std::string_view inside = braces.substr(1, end - 1);
    if (split_words(inside).empty()) return std::nullopt;
    Attributes attributes(inside);
    std::string_view key;
    std::string_view value;
    while (attributes.next(key, value)) {
      if (key == "weight") return lines_.weight(plain(value));
    }
    lines_.require(false,
                   "attributes without 'weight': only that one is read. Write the file with data=False for equal "
                   "shares, or with data=['NAME'] to use another.");
    return std::nullopt;
  }

  /// NumPy 2 writes np.float64(0.5), and other types likewise.
  static std::string_view plain(std::string_view value) {
    const std::size_t open = value.find('(');
    const bool wrapped = value.starts_with("np.") && open != std::string_view::npos && value.ends_with(')');
    return wrapped ? value.substr(open + 1, value.size() - open - 2) : value;
  }

  void require_like_the_others(bool weight) {
    lines_.require(weighted_.value_or(weight) == weight,
                   "an edge {} a weight: line {} has {}: all have one, or none. Correct either.",
                   weight ? "with" : "without", edges_.empty() ? 0 : edges_.front().line, weight ? "none" : "one");
    weighted_ = weight;
  }

  Client end_of_edge(std::string_view word, std::string_view what) {
    const auto client = static_cast<Client>(lines_.integer(word, what, 0, max_clients - 1));
    clients_ = std::max(clients_, client + 1);
    return client;
  }

  TextLines lines_;
  std::optional<bool> commas_;
  std::optional<bool> weighted_;
  Client clients_ = 0;
  std::vector<Edge> edges_;
};

}  // namespace

Topology Topology::parse_matrix_market(std::string_view text, const std::string& name) {
  return MatrixMarket(text, name).run();
}

Topology Topology::parse_edge_list(std::string_view text, const std::string& name) {
  return EdgeList(text, name).run();
}

}  // namespace starling
