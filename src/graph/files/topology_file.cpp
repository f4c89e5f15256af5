// Reading topology files, `.topo` here, others in foreign_files.cpp. Total: any bytes give a topology or a UsageError.
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "core/text/names.hpp"
#include "files/durable_file.hpp"
#include "files/foreign_text.hpp"
#include "graph/families/endless.hpp"
#include "graph/topology.hpp"
#include "text_lines.hpp"

namespace starling {

namespace {

class Parser : private TextLines {
 public:
  Parser(std::string_view text, const std::string& name) : TextLines(text, name) {}

  std::unique_ptr<Graph> run() {
    std::string_view line;
    for (LineWords words; next(line);) {
      split_words(line.substr(0, line.find('#')), words);
      take(words);
    }
    if (generator_) return generate();
    check(clients_.has_value(), "{}: no `clients N` line: the file must say how many clients there are. Add one.",
          name());
    check_weights_written();
    return std::make_unique<Topology>(*clients_, rule(), everywhere_, phases_, name());
  }

 private:
  struct Statement {
    std::string_view word;
    std::string_view usage;
    std::size_t fewest;  ///< words, with the first
    std::size_t most;
    void (Parser::*take)(const LineWords&);
  };
  static constexpr std::size_t any_number = 1'000;
  static const std::array<Statement, 5> statements;

  void take(const LineWords& words) {
    if (words.empty()) return;
    for (const Statement& statement : statements) {
      if (statement.word != words[0]) continue;
      require(words.size() >= statement.fewest && words.size() <= statement.most,
              "`{}` with {} words after it: its form is `{}`. Correct the line.", statement.word, words.size() - 1,
              statement.usage);
      return (this->*statement.take)(words);
    }
    std::vector<std::string> known;
    for (const Statement& statement : statements) known.emplace_back(statement.word);
    require(false, "'{}' starts no statement: known are {}. {}", shown(words[0]), fmt::join(known, ", "),
            did_you_mean(words[0], known, "", "Correct the line."));
  }

  void take_clients(const LineWords& words) {
    require(!clients_, "a second `clients` line: first on line {}. Delete one.", clients_line_);
    require_no_generator("clients");
    clients_ = static_cast<Client>(integer(words[1], "clients", 1, max_clients));
    clients_line_ = number();
  }

  void take_weights(const LineWords& words) {
    require(!rule_, "a second `weights` line: one rule holds for the whole file. Delete one.");
    require(phases_.empty(), "`weights` after `phase`: one rule holds for the whole file. Move it to the top.");
    try {
      rule_ = parse_weight_rule(shown(words[1]));
    } catch (const UsageError& error) {
      require(false, "{}", error.what());
    }
  }

  void take_edge(const LineWords& words) {
    require_no_generator("edge");
    Edge edge;
    edge.line = number();
    edge.from = end_of_edge(words[1], "sender");
    edge.to = end_of_edge(words[2], "receiver");
    if (words.size() > 3) edge.weight = weight(words[3]);
    auto& first = words.size() > 3 ? first_with_weight_ : first_without_weight_;
    if (!first) first = edge;
    (phases_.empty() ? everywhere_ : phases_.back().edges).push_back(edge);
  }

  Client end_of_edge(std::string_view word, std::string_view what) const {
    return static_cast<Client>(integer(word, what, 0, clients_.value_or(max_clients) - 1));
  }

  void take_phase(const LineWords& words) {
    require_no_generator("phase");
    Topology::Phase phase;
    phase.rounds = integer(words[1], "rounds of a phase", 1, max_phase_rounds);
    phases_.push_back(std::move(phase));
  }

  void take_generate(const LineWords& words) {
    require_no_generator("generate");
    require(!clients_ && everywhere_.empty() && phases_.empty(),
            "`generate` beside `clients`, `edge` or `phase`: it makes all of them. Keep one or the other.");
    std::string spec;
    for (const std::string_view word : words) {
      constexpr std::string_view key = "clients=";
      if (word == words[0]) continue;
      if (word.starts_with(key)) {
        require(!clients_, "clients= stands twice. Delete one.");
        clients_ = static_cast<Client>(integer(word.substr(key.size()), "clients", 1, max_clients));
      } else {
        spec += (spec.empty() ? "" : separator(spec)) + std::string(word);
      }
    }
    require(clients_.has_value() && !spec.empty(), "`generate` lacks {}: its form is `generate FAMILY clients=N …`.",
            spec.empty() ? "a family" : "clients=N");
    generator_ = spec;
    generator_line_ = number();
  }

  static std::string separator(const std::string& spec) { return spec.find(':') == std::string::npos ? ":" : ","; }

  void require_no_generator(std::string_view word) const {
    require(!generator_,
            "`{}` after `generate` on line {}: which makes clients, edges and phases. Keep one or the other.", word,
            generator_line_);
  }

  std::unique_ptr<Graph> generate() const {
    try {
      return make_graph(*generator_, *clients_, rule());
    } catch (const UsageError& error) {
      throw UsageError(at(generator_line_) + error.what());
    }
  }

  [[nodiscard]] WeightRule rule() const { return rule_.value_or(WeightRule::sender); }

  void check_weights_written() const {
    const bool written = rule() == WeightRule::explicit_weights;
    const auto& wrong = written ? first_without_weight_ : first_with_weight_;
    if (!wrong) return;
    const std::string edge = fmt::format("{}edge {} {}", at(wrong->line), wrong->from, wrong->to);
    check(!written, "{} has no weight: `weights explicit` takes none for granted. Write one after it.", edge);
    check(written, "{} has a weight: `weights {}` sets the weights itself. Delete it, or write `weights explicit`.",
          edge, name_of(rule()));
  }

  std::optional<Client> clients_;
  std::int64_t clients_line_ = 0;
  std::optional<WeightRule> rule_;
  std::optional<std::string> generator_;
  std::int64_t generator_line_ = 0;
  std::optional<Edge> first_with_weight_;
  std::optional<Edge> first_without_weight_;
  std::vector<Edge> everywhere_;
  std::vector<Topology::Phase> phases_;
};

const std::array<Parser::Statement, 5> Parser::statements{{
    {"clients", "clients N", 2, 2, &Parser::take_clients},
    {"weights", "weights explicit|sender|receiver|metropolis", 2, 2, &Parser::take_weights},
    {"edge", "edge FROM TO [WEIGHT]", 3, 4, &Parser::take_edge},
    {"phase", "phase ROUNDS", 2, 2, &Parser::take_phase},
    {"generate", "generate FAMILY clients=N [key=value …]", 2, any_number, &Parser::take_generate},
}};

std::string text_of_file(const std::string& path) {
  std::optional<std::string> text = read_whole_file(path);
  check(text.has_value(),
        "cannot read the topology '{}': {}. Check the path, or make one with `starling topology make ring --clients N "
        "--output FILE`.",
        path, std::strerror(errno));
  return *std::move(text);
}

std::unique_ptr<Graph> graph_of(std::string_view text, const std::string& path) {
  const auto ends = [&path](std::string_view ending) { return path.ends_with(ending); };
  if (ends(".mtx")) return std::make_unique<Topology>(Topology::parse_matrix_market(text, path));
  refuse_foreign_graph(text, path);
  if (ends(".edges") || ends(".edgelist") || ends(".txt")) {
    return std::make_unique<Topology>(Topology::parse_edge_list(text, path));
  }
  return Parser(text, path).run();
}

}  // namespace

std::unique_ptr<Graph> make_graph(std::string_view spec, Client clients, WeightRule rule) {
  const bool endless = Spec::parse(spec).find("rounds") == "endless";
  if (endless) return endless_table().make(spec, clients, rule);
  return topology_table().make(spec, clients, rule);
}

std::unique_ptr<Graph> parse_graph(std::string_view text, const std::string& name) {
  return Parser(text, name).run();
}

std::unique_ptr<Graph> read_graph(const std::string& path) {
  return graph_of(text_of_file(path), path);
}

Topology Topology::parse(std::string_view text, const std::string& name) {
  return topology_of(*parse_graph(text, name), name);
}

Topology Topology::read(const std::string& path) {
  return topology_of(*read_graph(path), path);
}

}  // namespace starling
