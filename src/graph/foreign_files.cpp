// Topologies in the formats of others: MatrixMarket, and edge lists as NetworkX writes them. Total, as the reader of
// `.topo` files is: any bytes give a topology or a UsageError.
#include "text_lines.hpp"
#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "starling/graph/topology.hpp"

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
    Words words;
    while (next(words)) read_entry(words);
    check(read_ == entries_, "{}: {} entries (line {} announces {}: the file may be cut off) write it anew",
          lines_.name(), read_, size_line_, entries_);
    if (pattern_) drop_self_loops(edges_);
    return {clients_, pattern_ ? WeightRule::sender : WeightRule::explicit_weights, edges_, {}, lines_.name()};
  }

 private:
  void read_banner() {
    std::string_view line;
    check(lines_.next(line), "{}: empty, without MatrixMarket banner (it may be cut off) write it anew", lines_.name());
    std::string lower(line);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const Words words = split_words(lower);
    lines_.require(words.size() == 5 && words[0] == "%%matrixmarket" && words[1] == "matrix",
                   "no MatrixMarket banner (the first line is `%%MatrixMarket matrix coordinate real general` or the "
                   "like) write the file with SciPy's mmwrite, or rename it");
    lines_.require(words[2] == "coordinate", "format '{}' (only `coordinate` is read) save it as a sparse matrix",
                   shown(words[2]));
    lines_.require(words[3] == "real" || words[3] == "integer" || words[3] == "pattern",
                   "entries are '{}' (only real, integer and pattern are read) convert them", shown(words[3]));
    lines_.require(words[4] == "general" || words[4] == "symmetric",
                   "symmetry '{}' (only general and symmetric are read) save it as general", shown(words[4]));
    pattern_ = words[3] == "pattern";
    symmetric_ = words[4] == "symmetric";
  }

  /// The words of the next line that is neither empty nor a comment.
  bool next(Words& words) {
    std::string_view line;
    while (lines_.next(line)) {
      if (line.starts_with('%')) continue;
      words = split_words(line);
      if (!words.empty()) return true;
    }
    return false;
  }

  void read_size() {
    Words words;
    check(next(words), "{}: no line of sizes (rows, columns and entries follow the banner) write the file anew",
          lines_.name());
    lines_.require(words.size() == 3, "{} words in the line of sizes (rows, columns, entries) correct it",
                   words.size());
    clients_ = static_cast<Client>(lines_.integer(words[0], "rows", 1, max_clients));
    const long long columns = lines_.integer(words[1], "columns", 1, max_clients);
    lines_.require(columns == clients_, "{} rows and {} columns (who receives and who sends: as many) correct it",
                   clients_, columns);
    entries_ = lines_.integer(words[2], "entries", 0, max_entries);
    size_line_ = lines_.number();
  }

  void read_entry(const Words& words) {
    const std::size_t width = pattern_ ? 2 : 3;
    lines_.require(read_ < entries_, "more entries than the {} that line {} announces, correct that line", entries_,
                   size_line_);
    lines_.require(words.size() == width, "{} words in an entry (its form is `{}`) correct the line", words.size(),
                   pattern_ ? "ROW COLUMN" : "ROW COLUMN WEIGHT");
    Edge edge;
    edge.line = lines_.number();
    edge.to = static_cast<Client>(lines_.integer(words[0], "row", 1, clients_) - 1);
    edge.from = static_cast<Client>(lines_.integer(words[1], "column", 1, clients_) - 1);
    if (!pattern_) edge.weight = lines_.weight(words[2]);
    edges_.push_back(edge);
    std::swap(edge.from, edge.to);
    if (symmetric_ && edge.from != edge.to) edges_.push_back(edge);
    ++read_;
  }

  static constexpr long long max_entries = 30'000'000;
  TextLines lines_;
  bool pattern_ = false;
  bool symmetric_ = false;
  Client clients_ = 0;
  long long entries_ = 0;
  long long read_ = 0;
  std::int64_t size_line_ = 0;
  std::vector<Edge> edges_;
};

class EdgeList {
 public:
  EdgeList(std::string_view text, const std::string& name) : lines_(text, name) {}

  Topology run() {
    std::string_view line;
    while (lines_.next(line)) {
      const Words words = split_words(line.substr(0, line.find('#')));
      if (!words.empty()) read_edge(words);
    }
    check(!edges_.empty(), "{}: no edges (each line is `FROM TO WEIGHT` or `FROM TO`) write some, or a .topo file",
          lines_.name());
    if (!*weighted_) drop_self_loops(edges_);
    return {clients_, *weighted_ ? WeightRule::explicit_weights : WeightRule::sender, edges_, {}, lines_.name()};
  }

 private:
  void read_edge(const Words& words) {
    lines_.require(words.size() < 3 || !words[2].starts_with('{'),
                   "attributes in braces after the edge (only a plain weight is read) write the file with NetworkX's "
                   "write_weighted_edgelist");
    lines_.require(words.size() == 2 || words.size() == 3,
                   "{} words (an edge is `FROM TO WEIGHT` or `FROM TO`) correct the line", words.size());
    const bool weight = words.size() == 3;
    lines_.require(weighted_.value_or(weight) == weight,
                   "an edge {} a weight (line {} has {}: all have one, or none) correct either",
                   weight ? "with" : "without", edges_.empty() ? 0 : edges_.front().line, weight ? "none" : "one");
    weighted_ = weight;
    Edge edge;
    edge.line = lines_.number();
    edge.from = end_of_edge(words[0], "sender");
    edge.to = end_of_edge(words[1], "receiver");
    if (weight) edge.weight = lines_.weight(words[2]);
    edges_.push_back(edge);
  }

  Client end_of_edge(std::string_view word, std::string_view what) {
    const auto client = static_cast<Client>(lines_.integer(word, what, 0, max_clients - 1));
    clients_ = std::max(clients_, client + 1);
    return client;
  }

  TextLines lines_;
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
