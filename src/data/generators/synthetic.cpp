#include "data/generators/synthetic.hpp"

#include "core/check.hpp"
#include "data/generators/generators.hpp"

namespace starling {

namespace {

class GeneratedReader final : public RecordReader {
 public:
  GeneratedReader(std::shared_ptr<const Generator> generator, std::string name, std::uint64_t seed, Client client,
                  std::int64_t batch, std::int64_t records)
      : generator_(std::move(generator)),
        name_(std::move(name)),
        seed_(seed),
        client_(client),
        batch_(batch),
        records_(records),
        random_(address(0)) {}

  bool next(Record& record) override {
    if (next_ == records_) return false;
    record.sparse = false;
    record.index.clear();
    record.values.resize(generator_->features());
    draw(record);
    return true;
  }
  [[nodiscard]] std::size_t features() const override { return generator_->features(); }
  [[nodiscard]] std::vector<std::string> names() const override { return generator_->names(); }
  [[nodiscard]] std::string where() const override { return fmt::format("{}: record {}", name_, next_); }
  [[nodiscard]] Mark mark() const override { return {static_cast<std::uint64_t>(next_), next_}; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return records_; }

  void seek(const Mark& mark) override {
    Record skipped;
    skipped.values.resize(generator_->features());
    const auto to = static_cast<std::int64_t>(mark.offset);
    next_ = to - to % batch_;
    while (next_ < to) draw(skipped);
  }

 private:
  /// Random numbers of round t, counted from 0. Generators count rounds from 1.
  [[nodiscard]] AddressedRandom address(std::int64_t t) const {
    return {seed_, Purpose::data, static_cast<std::uint64_t>(client_), static_cast<std::uint64_t>(t + 1)};
  }
  void draw(Record& record) {
    const std::int64_t t = next_ / batch_;
    if (next_ % batch_ == 0) random_ = address(t);
    record.label = generator_->draw(t + 1, client_, random_, record.values);
    ++next_;
  }

  std::shared_ptr<const Generator> generator_;
  std::string name_;
  std::uint64_t seed_;
  Client client_;
  std::int64_t batch_;
  std::int64_t records_;
  AddressedRandom random_;
  std::int64_t next_ = 0;
};

constexpr std::string_view synthetic_prefix = "synthetic:";
}  // namespace

bool is_synthetic(std::string_view source) {
  return source.starts_with(synthetic_prefix);
}

bool is_spectrum(std::string_view source) {
  return source == "synthetic:spectrum" || source.starts_with("synthetic:spectrum:");
}

std::unique_ptr<Generator> make_generator(const std::string& source, const Audience& audience) {
  check(!is_spectrum(source),
        "'{}' is for `starling vertical` alone: each receiver sees other columns of a record, whose targets are "
        "several. Give another source, or use that command.",
        source);
  return generator_table().make(std::string_view(source).substr(synthetic_prefix.size()), audience);
}

std::string identity_of_generated(const std::string& source, std::uint64_t seed) {
  return fmt::format("{} seed={}", source, seed);
}

void refuse_reading_options(const ReadSettings& settings) {
  const ReadSettings none;
  struct Given {
    const char* option;
    bool given;
  };
  for (const auto& [option, given] : {Given{"--format", settings.format != none.format},
                                      {"--label", settings.label != none.label},
                                      {"--id", settings.id != none.id},
                                      {"--drop", settings.drop != none.drop},
                                      {"--positive", settings.positive != none.positive},
                                      {"--class-labels", settings.class_labels != none.class_labels},
                                      {"--ignore", settings.ignore != none.ignore},
                                      {"--scale", settings.scale != none.scale},
                                      {"--standardise", settings.standardise != none.standardise},
                                      {"--ranges", settings.ranges != none.ranges},
                                      {"--encode", settings.encode != none.encode},
                                      {"--missing", settings.missing != none.missing},
                                      {"--features", settings.features != none.features},
                                      {"--delimiter", settings.delimiter != none.delimiter},
                                      {"--header", settings.header != none.header},
                                      {"--dimension", settings.dimension != none.dimension}}) {
    check(!given, "{} with '{}': it says how a file is read, and this is a generator. Leave it out.", option,
          settings.source);
  }
}

long long integer_within(const Spec& spec, std::string_view key, long long otherwise, long long low, long long high) {
  const long long value = spec.integer(key, otherwise);
  check(value >= low && value <= high, "'{}': {}={}: it must lie between {} and {}.", spec.text(), key, value, low,
        high);
  return value;
}

double number_within(const Spec& spec, std::string_view key, double otherwise, double low, double high) {
  const double value = spec.number(key, otherwise);
  check(value >= low && value <= high, "'{}': {}={}: it must lie between {} and {}.", spec.text(), key, value, low,
        high);
  return value;
}

std::size_t features_of(const Spec& spec, std::string_view key, long long otherwise, long long least) {
  return static_cast<std::size_t>(integer_within(spec, key, otherwise, least, 100'000'000));
}

std::int64_t records_of(const Spec& spec) {
  return integer_within(spec, "n", 0, 0, 1'000'000'000'000);
}

double mapped(const DataSettings& settings, const std::string& source, double label) {
  try {
    return settings.label_map(label);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", source, error.what()));
  }
}

namespace {

Parameter number_of_records() {
  return {"n", "records per client; 0 is a stream without end (0)"};
}

std::vector<GeneratorTable::Row> network_rows() {
  return {{"drift",
           "two classes whose common mean drifts; rows of norm 1",
           {{"d", "features (5)"},
            {"informative", "1: the label keeps its direction while the mean drifts (0)"},
            number_of_records()},
           make_drift},
          {"tracking",
           "points about a target that moves on the unit sphere, for --model location: the target plus an offset of "
           "each client's own; offsets add up to 0",
           {{"d", "features, at least 2 (5)"},
            {"spread", "about the length of an offset (0.5)"},
            {"path", "how far the target moves in a round, at most 2 (0.01)"},
            {"period", "rounds after which it takes another direction; 0: never (0)"},
            number_of_records()},
           make_tracking},
          {"two-gaussians",
           "two classes about -mu and mu in every coordinate; with a range LOW..HIGH of mu or sigma each client has "
           "values of its own, and record i of a test set those of client i mod --clients",
           {{"p", "features (50)"},
            {"mu", "each coordinate's mean, times the label; may be a range (0.2)"},
            {"sigma", "each coordinate's deviation; may be a range (1)"},
            {"ratio", "records with label 1 to those with -1, as 4/1 (1/1)"},
            number_of_records()},
           make_two_gaussians}};
}

/// Rows of the generators that know the coefficients of their regression.
std::vector<GeneratorTable::Row> regression_rows() {
  const Parameter features{"p", "features (3)"};
  const Parameter deviation{"sd", "deviation of the noise (0.5)"};
  const Parameter correlation{"correlation", "of neighbouring features; of others its powers (0)"};
  const Parameter slope{"slope", "of every feature (1)"};
  const Parameter intercept{"intercept", "of the scores (1)"};
  const Parameter flag{"flag", "share of ones, where the first feature is 1 or 0; 0: it is as the others (0)"};
  const Parameter freedom{"freedom", "of t-distributed features of variance 1, 3 or more; 0: normal ones (0)"};
  return {
      {"linear",
       "regression y = 1 + x1 + ... + xp + noise of standard normal features",
       {features,
        deviation,
        correlation,
        {"apart", "clients' intercepts lie evenly between intercept - apart and intercept + apart (0)"},
        number_of_records(),
        slope,
        intercept,
        flag,
        freedom},
       make_linear},
      {"logistic",
       "labels 1 and 0 with the odds exp(1 + x1 + ... + xp) of standard normal features",
       {features, correlation, number_of_records(), slope, intercept, flag, freedom},
       make_logistic},
      {"counts",
       "counts with the mean exp(0.3 (x1 + ... + xp)) of standard normal features, for --loss poisson",
       {features, number_of_records()},
       make_counts},
      {"expectile",
       "as linear, with the noise moved so that 1 + x1 + ... + xp is the label's expectile (--loss expectile:tau,c)",
       {features,
        deviation,
        correlation,
        {"tau", "of the expectile, 0.001 to 0.999 (0.7)"},
        {"c", "where its loss bends, at least sd/1000 (1.345)"},
        number_of_records(),
        slope,
        intercept,
        flag,
        freedom},
       make_expectile},
      {"insurance",
       "charges of health insurance by age, gender, bmi, children, smoker, medical_history, "
       "family_medical_history, exercise_frequency, occupation and coverage_level, as codes",
       {{"standardised", "1: by the population's means and deviations, charges too; 0: codes and dollars (1)"},
        number_of_records()},
       make_insurance},
      {"rides",
       "fares of a ride-sharing platform by distance, rating, total_rides, year, capacity and time_cost; distance and "
       "time alone have effects",
       {{"standardised", "1: by the population's means and deviations, fares too; 0: kilometres, minutes, dollars (1)"},
        number_of_records()},
       make_rides}};
}

}  // namespace

std::unique_ptr<RecordReader> open_generated(std::shared_ptr<const Generator> generator, std::string name,
                                             std::uint64_t seed, Client client, std::int64_t batch,
                                             std::int64_t records) {
  return std::make_unique<GeneratedReader>(std::move(generator), std::move(name), seed, client, batch, records);
}

const GeneratorTable& generator_table() {
  static const GeneratorTable table("generator", [] {
    std::vector<GeneratorTable::Row> rows = network_rows();
    for (GeneratorTable::Row& row : regression_rows()) rows.push_back(std::move(row));
    return rows;
  }());
  return table;
}

}  // namespace starling
