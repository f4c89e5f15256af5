/// The variants of renewable estimation that protect nothing: clients' sums are published as they are.
#pragma once

#include <functional>

#include "starling/protocol/renewable/renewable.hpp"
#include "starling/protocol/renewable/safeguarded_newton.hpp"

namespace starling {

/// How the clients' messages come to rank 0: through a mechanism that publishes them, whose dimension is that of a
/// message and whose batch is 1, in a code that may shorten curvatures.
struct OpenChannel {
  Mechanism& mechanism;
  const Codec& codec;
};

class OpenRenewable : public Renewable {
 public:
  OpenRenewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                const Released<Vector>& start, const OpenChannel& channel);

  /// The penalised objective F at the model that the last search ended with, over the records that it was about.
  [[nodiscard]] std::optional<double> objective() const { return objective_; }
  void persist(Snapshot& snapshot) override {
    Renewable::persist(snapshot);
    snapshot(objective_);
  }

 protected:
  /// Asks all clients for their messages at θ. Collective.
  using Question = std::function<Released<Vector>(View theta, const MessageParts& parts)>;

  /// Σ over all clients of message(k), on rank 0. **Collective.**
  [[nodiscard]] Released<Vector> publish(const std::function<const Secret<Vector>&(std::size_t k)>& message);

  enum class Outcome { converged, exhausted, stopped };
  /// Minimises F from theta_ on, which becomes the best model found, with at most `most` questions. `after` is told
  /// after each, and says whether to go on. Throws DataError, naming `where`, if the curvature is singular, or if there
  /// is no minimum since no penalty keeps classes that can be separated from being told apart ever more.
  /// **Collective.**
  Outcome minimise(const Question& ask, Round most, Penalty penalty, const std::string& where,
                   const std::function<bool()>& after);

  [[nodiscard]] BlockCurvature empty_curvature() const { return {model_.classes(), model_.order()}; }
  [[nodiscard]] MessageLayout places() const { return clients_.layout(settings_.with_slopes); }

 private:
  [[nodiscard]] Expansion expansion(View theta, View total) const;
  void require_minimum(const SafeguardedNewton& search, const std::string& where) const;

  OpenChannel channel_;
  std::optional<double> objective_;
};

/// `online`: Algorithm 1.
class OnlineRenewable final : public OpenRenewable {
 public:
  using OpenRenewable::OpenRenewable;
  void run(const std::vector<Observer*>& observers) override;

  /// Estimated variances of the d coefficients, on rank 0 (elsewhere none): the diagonal of φ J⁻¹ with dispersion φ = 1
  /// (`model`; Luo and Song 2020) or, for `squared`, φ = Σ r²/(N − d); with settings.with_slopes that of the sandwich
  /// J⁻¹ (Σ ℓ'² x̄x̄ᵀ) J⁻¹. Throws DataError where J is singular.
  enum class Dispersion { one, squared };
  [[nodiscard]] Vector variances(Dispersion dispersion) const;
  /// On rank 0, of classes: whether the batches after the first were predicted worse than by a model of zeros: the
  /// curvature where the start led was too flat, and the steps from there too long.
  [[nodiscard]] bool is_lost() const;
  /// Whether the first batch has no minimum of its own with λW, so that the start took λI.
  [[nodiscard]] bool start_was_shrunk() const { return start_was_shrunk_; }
  void persist(Snapshot& snapshot) override;

 private:
  [[nodiscard]] Released<Vector> ask(View theta, const MessageParts& parts);
  void minimise_first_batch();
  void renew();

  std::optional<RenewableState> state_;
  bool started_ = false;
  bool start_was_shrunk_ = false;
};

/// `offline`: (16) over all data to convergence, safeguarded. `offline-one-step`: one step of it.
class OfflineRenewable final : public OpenRenewable {
 public:
  enum class Steps { one, all };
  OfflineRenewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                   const Released<Vector>& start, const OpenChannel& channel, Steps steps);
  void run(const std::vector<Observer*>& observers) override;

  [[nodiscard]] bool converged() const { return converged_; }

 private:
  [[nodiscard]] Released<Vector> ask(View theta, const MessageParts& parts);
  void take_one_step();

  Steps steps_;
  std::int64_t pass_ = 0;
  bool converged_ = false;
};

}  // namespace starling
