/// The common part of the variants of renewable estimation that protect nothing: clients' sums are published.
#pragma once

#include <functional>

#include "codec/codec.hpp"
#include "protocol/renewable/renewable.hpp"

namespace starling {

struct Expansion;
class SafeguardedNewton;

/// The way of the clients' messages to rank 0: a mechanism that publishes them (its dimension is that of a message, its
/// batch is 1), and a codec that may shorten curvatures.
struct OpenChannel {
  Mechanism& mechanism;
  const Codec& codec;
};

/// Renewable estimation from published sums, with a search for the minimum of F over a fixed set of records.
class OpenRenewable : public Renewable {
 public:
  OpenRenewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                const Released<Vector>& start, const OpenChannel& channel);

  /// The penalised objective F at the end of the last search, over the records of that search.
  [[nodiscard]] std::optional<double> objective() const { return objective_; }
  void persist(Snapshot& snapshot) override {
    Renewable::persist(snapshot);
    snapshot(objective_);
  }

 protected:
  /// Asks all clients for their messages at θ. **Collective.**
  using Question = std::function<Released<Vector>(View theta, const MessageParts& parts)>;

  /// Σ of message(k) over all clients, on rank 0. **Collective.**
  [[nodiscard]] Released<Vector> publish(const std::function<const Secret<Vector>&(std::size_t k)>& message);

  /// Earlier records in a search, as ½ (θ − centre)ᵀ J (θ − centre). J must be positive definite.
  struct Earlier {
    BlockCurvature j;
    Vector centre;
  };
  enum class Outcome { converged, without_minimum, exhausted, stopped };
  /// Minimises F from theta_ on with at most `most` questions; theta_ becomes the best model found. `after` is called
  /// after each question and returns whether to go on. There may be no minimum: classes can be separated and there is
  /// no penalty, or none on the intercept of a class without records. Throws DataError, naming `where`, if the
  /// curvature is singular. On rank 0 `earlier`, if given, is added to F, and makes sure of a minimum. **Collective.**
  Outcome minimise(const Question& ask, Round most, Penalty penalty, const std::string& where,
                   const std::function<bool()>& after, const std::optional<Earlier>& earlier = std::nullopt);

  [[nodiscard]] BlockCurvature empty_curvature() const { return {model_.classes(), model_.order()}; }
  [[nodiscard]] MessageLayout places() const { return clients_.layout(settings_.with_slopes); }

 private:
  [[nodiscard]] Expansion expansion(View theta, View total, const std::optional<Earlier>& earlier) const;
  [[nodiscard]] bool is_separated(const SafeguardedNewton& search) const;
  [[nodiscard]] bool runs_away(const SafeguardedNewton& search) const;

  OpenChannel channel_;
  std::optional<double> objective_;
};

}  // namespace starling
