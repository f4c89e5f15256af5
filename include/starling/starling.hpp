/// starling as a C++ library: decentralized, differentially private online learning from within a program.
///
///   starling::Session session;  // on every rank of the launch; without mpirun, one process hosts all clients
///   starling::Options options;
///   options.set("clients", 16).set("topology", "ring").set("mechanism", "gaussian").set("total-epsilon", 1.0);
///   options.records({x.data(), rows, columns, y.data()});
///   const starling::Run run = session.run("omd", options);
///   std::cout << run.summary() << '\n';
///
/// Options have the names, defaults and errors of the program's command line (`starling omd --help`). Results go to a
/// run directory, as the program's. This header needs C++17 and nothing but the standard library.
#ifndef STARLING_STARLING_HPP
#define STARLING_STARLING_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#define STARLING_API __attribute__((visibility("default")))

namespace starling {
inline namespace v1 {

/// What ends a command. `code` is the exit code that the program would have: 2 usage, 3 data, 4 privacy budget, 5 a
/// peer or a file.
class STARLING_API Error : public std::runtime_error {
 public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};
class STARLING_API UsageError : public Error {
 public:
  using Error::Error;
};
class STARLING_API DataError : public Error {
 public:
  using Error::Error;
};
class STARLING_API BudgetError : public Error {
 public:
  using Error::Error;
};
class STARLING_API FailureError : public Error {
 public:
  using Error::Error;
};
/// Another rank has failed; its own error says why.
class STARLING_API PeerError : public Error {
 public:
  using Error::Error;
};

/// Records in memory that starling reads and does not copy. They must stay unchanged while a run reads them.
struct Records {
  /// Records × columns. Whole numbers of 64 bits tell records and persons apart that doubles would round.
  std::variant<const double*, const std::int64_t*, const std::uint64_t*> x;
  std::size_t records = 0;
  std::size_t columns = 0;
  const double* y = nullptr;      ///< labels; null where `label` names a column of x
  std::ptrdiff_t row_stride = 0;  ///< numbers from one record to the next; 0: columns
  std::ptrdiff_t column_stride = 1;
  std::vector<std::string> names;  ///< of the columns; empty where they have none
};

/// Records for a model of your own. Record i has the features x[i * stride] … x[i * stride + features - 1] and the
/// label y[i].
struct Batch {
  std::size_t rows;
  std::size_t features;
  const double* x;
  std::size_t stride;
  const double* y;
};

/// A model of your own. It gives losses and gradients of single records; starling clips, sums and noises them. What it
/// says of a record must depend on the parameters and this record alone: not on other records, on their number or
/// order, on earlier calls or on random numbers. It must not send or store records, and must not end the process. Then
/// wrong numbers cost accuracy, and not privacy. Under noise starling asks for one record at a time, and tries the
/// model on public random records first. A record for which it throws counts as zero then; without noise the run ends.
/// The text of the exception goes to the owner of the records alone.
class STARLING_API Model {
 public:
  virtual ~Model();
  /// Number d > 0 of parameters for records of so many features.
  virtual std::size_t dimension(std::size_t features) = 0;
  /// The d numbers to start from, which depend on the seed alone; empty for zeros.
  virtual std::vector<double> start(std::uint64_t seed, std::size_t dimension);
  /// Writes the loss of each record (rows numbers) and its gradient at `point`, not clipped, row after row (rows * d
  /// numbers). A record whose numbers are not finite counts as absent.
  virtual void gradients(const double* point, const Batch& batch, double* losses, double* gradients) = 0;
  /// Whether `predict` is there.
  virtual bool predicts() const;
  /// Whether predictions are numbers of classes, so that starling counts how many are right.
  virtual bool classifies() const;
  /// Writes a prediction of the label for each record, whose labels may be unknown: they are 0 then.
  virtual void predict(const double* point, const Batch& batch, double* predictions);
  /// |dl/ds| at s = 0 if the loss is a convex function l(s) of one score s, the product of the point and the features:
  /// 0.5 for logistic regression. Batch, clip and steps are then chosen as for linear models. 0 for other models.
  virtual double slope() const;
  /// Text that no other model has, such as a version of its code: a run is resumed with the same model alone. Empty: it
  /// cannot be resumed.
  virtual std::string identity() const;
};

/// Options of a command by the names of the program's, with values, records and a model. Copies share records and
/// model.
class STARLING_API Options {
 public:
  Options();
  ~Options();
  Options(const Options&);
  Options& operator=(const Options&);
  Options(Options&&) noexcept;
  Options& operator=(Options&&) noexcept;

  /// `set("step-power", 0.5)` is `--step-power 0.5`; `true` stands for an option without a value.
  template <class T>
  Options& set(const std::string& name, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return set_text(name, value ? "true" : "false");
    } else if constexpr (std::is_integral_v<T>) {
      return set_text(name, std::to_string(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      return set_number(name, static_cast<double>(value));
    } else {
      return set_text(name, std::string(value));
    }
  }
  /// Records of all clients, which `partition` deals out.
  Options& records(Records all);
  /// Records of each client. A rank needs those of its own clients; the others may be empty.
  Options& records_by_client(std::vector<Records> of_clients);
  /// Public records on which models are tested.
  Options& test(Records all);
  /// A model of your own, under a name that config.ini has.
  Options& model(std::shared_ptr<Model> own, const std::string& name = "model");

 private:
  friend class Session;
  Options& set_text(const std::string& name, const std::string& value);
  Options& set_number(const std::string& name, double value);

  struct State;
  std::unique_ptr<State> state_;
};

/// Numbers in rows.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;  ///< row after row
  double operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

/// A finished or stopped run. What it gives comes from the run's directory, which every rank must see.
class STARLING_API Run {
 public:
  /// Opens a run directory. Throws UsageError if there is none.
  explicit Run(std::string directory);

  const std::string& directory() const { return directory_; }
  /// Whether a signal stopped it. Such a run can be resumed.
  bool stopped() const { return stopped_; }
  /// The table that the program prints; empty on ranks other than 0.
  const std::string& text() const { return text_; }
  /// summary.json (docs/reference/summary.md).
  std::string summary() const;
  /// A number of the summary by its path, as "metrics.progressive_accuracy"; none where it is missing or withheld.
  std::optional<double> number(const std::string& path) const;
  /// The privacy statement.
  std::string privacy() const;
  /// Final models of the recorded clients, one a row.
  Matrix models() const;
  /// The mean of the final models by mass. Throws UsageError where the run has none.
  std::vector<double> model() const;
  /// A data set of run.h5 (docs/reference/run-h5.md), as rows of numbers.
  Matrix dataset(const std::string& name) const;

 private:
  friend class Session;
  std::string directory_;
  std::string text_;
  bool stopped_ = false;
};

/// MPI, and the commands of starling on it. Starts MPI unless the program has, and then ends it. One at a time.
class STARLING_API Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const;
  int size() const;

  /// Plays a run: omd, fedavg, renewable, infer or vertical. **Collective.** Throws Error.
  Run run(const std::string& command, const Options& options);
  /// Runs any command with the words of the program's command line, as {"topology", "check", "graph.topo"}. Returns
  /// what the program prints to standard output, on rank 0. Throws Error, also for a command that answers no.
  std::string command(const std::vector<std::string>& words);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Version of the library.
STARLING_API std::string version();

}  // namespace v1
}  // namespace starling

#endif
