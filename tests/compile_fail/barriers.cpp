// Cases of code that the types of the project forbid. Each begins with its name and the reason. It compiles as it is.
// Where STARLING_MUST_FAIL is defined it has the forbidden code, which the compiler must refuse with a message that
// matches the regular expression `Expected`.
#include "core/boundary.hpp"
#include "net/agreement.hpp"
#include "net/neighbours/neighbours.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/masked_gaussian.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/without_noise.hpp"
#include "protocol/constraints/long_term_constraints.hpp"
#include "protocol/decentralized/omd.hpp"
#include "protocol/decentralized/synchronous_mixer.hpp"
#include "report/summary.hpp"

#ifdef STARLING_MUST_FAIL
template <class Wrong, class Right>
using Either = Wrong;
#define EITHER(wrong, right) wrong
#else
template <class Wrong, class Right>
using Either = Right;
#define EITHER(wrong, right) right
#endif

using namespace starling;

// ---- Secrets, and how values are released

// open_without_key: a secret is opened by those who hold a key, and a key cannot be made elsewhere.
// Expected: OpenKey.*private|private.*OpenKey
void open_without_key(const Secret<double>& secret) {
  static_cast<void>(EITHER(secret.open(OpenKey()), secret.map([](double value) { return 2 * value; })));
}

// open_with_braces: braces make no key either, since it is not an aggregate.
// Expected: OpenKey.*private|private.*OpenKey
void open_with_braces(const Secret<double>& secret) {
  static_cast<void>(EITHER(secret.open({}), secret));
}

// update_returns: no value comes out of an update.
// Expected: nothing may come out of a Secret
void update_returns(Secret<double>& secret) {
  secret.update([](double& value) { EITHER(return, ) value = 0; });
}

// apply_returns: no value comes out of a function of several secrets.
// Expected: nothing may come out of a Secret
void apply_returns(const Secret<double>& a, const Secret<double>& b) {
  apply([](double x, double y) { EITHER(return, std::ignore =) x + y; }, a, b);
}

// released_from_plain: a plain vector may be anything, and is not released by being called so.
// Expected: no matching .*Released
Released<Vector> released_from_plain(const Vector& gradient) {
  return Released<Vector>(EITHER(gradient, declare_public(gradient)));
}

// released_with_braces: braces make no key to a release.
// Expected: ReleaseKey.*private|private.*ReleaseKey
Released<double> released_with_braces(double gradient) {
  return EITHER(Released<double>({}, gradient), Released<double>(declare_public(gradient)));
}

// post_process_secret: post-processing is of what has been released.
// Expected: no matching function for call to .*post_process
double post_process_secret(const Either<Secret<double>, Released<double>>& input) {
  return post_process([](double value) { return 2 * value; }, input).value();
}

// entrusted_by_anybody: values without noise are entrusted by the privacy module alone, and read by nobody but the
// door. Expected: value_.*private
double entrusted_by_anybody(const Entrusted<Vector>& entrusted, const Released<Vector>& released) {
  std::ignore = entrusted;
  return EITHER(entrusted.value_[0], released.value()[0]);
}

// entrusted_with_key: nobody else has the key with which values are entrusted.
// Expected: ReleaseKey.*private|private.*ReleaseKey
Entrusted<Vector> entrusted_with_key(const Entrusted<Vector>& entrusted) {
  return EITHER((Entrusted<Vector>{ReleaseKey(), Vector{1}}), entrusted);
}

// entrusted_opened: what is entrusted can be read by nobody on its way.
// Expected: class starling::Entrusted<.*has no member named 'value'|no member named 'value' in 'starling::Entrusted<
double entrusted_opened(const Either<Entrusted<Vector>, Released<Vector>>& travelling) {
  return travelling.value()[0];
}

// ---- The doors of net

// exchange_secret: the door between neighbours takes what has been released.
// Expected: Released<.*Secret<|Secret<.*Released<
void exchange_secret(Neighbours& neighbours, Neighbours::Plan& plan,
                     const Either<Secret<Columns>, Released<Columns>>& outgoing) {
  neighbours.exchange(0, plan, outgoing);
}

// exchange_entrusted: what an aggregator is trusted with does not pass the door between neighbours.
// Expected: Released<.*Entrusted<|Entrusted<.*Released<
void exchange_entrusted(Neighbours& neighbours, Neighbours::Plan& plan,
                        const Either<Entrusted<Columns>, Released<Columns>>& outgoing) {
  neighbours.exchange(0, plan, outgoing);
}

// outgoing_secret: the block that goes out to neighbours is made of what has been released.
// Expected: Released<.*Secret<|Secret<.*Released<|could not match 'Released' against 'Secret'
void outgoing_secret(Neighbours& neighbours, const Neighbours::Plan& plan,
                     const Either<Secret<Columns>, Released<Columns>>& values) {
  neighbours.outgoing(0, plan).update([](Columns& block, const Columns& all) { block[0][0] = all[0][0]; }, values);
}

// broadcast_secret: the aggregator's door takes what has been released.
// Expected: no matching (member )?function for call to .*broadcast
void broadcast_secret(Root& root, Either<Secret<Vector>, Released<Vector>>& value) {
  root.broadcast(value);
}

// report_secret: reports of progress take what has been released.
// Expected: Released<.*Secret<|Secret<.*Released<
void report_secret(Agreement& agreement, const Either<Secret<Vector>, Released<Vector>>& numbers) {
  agreement.report(numbers);
}

// sum_secret: what is secret passes the aggregator's door neither as it is nor as what the aggregator is trusted with.
// Expected: cannot convert.*lambda.*Entrusted<|no viable conversion from '.lambda.*Entrusted<
Secret<Vector> sum_secret(Root& root, const Either<Secret<Vector>, Entrusted<Vector>>& own) {
  return root.sum_entrusted(3, [&own](std::size_t) -> decltype(own) { return own; });
}

// sum_entrusted_as_released: a sum of what the aggregator is trusted with is its secret, and comes from the door for
// that alone. Expected: Released<.*Entrusted<|Entrusted<.*Released<|no match|no known conversion|could not
// convert|cannot convert
Vector sum_entrusted_as_released(Root& root, const Either<Entrusted<Vector>, Released<Vector>>& own) {
  return root.sum(1, [&own](std::size_t) -> decltype(own) { return own; }).value();
}

// sum_masked_as_released: shares are not released, and are summed modulo 2^64, by the door for that alone.
// Expected: Masked.*function<|function<.*Released<|cannot convert|could not convert|no known conversion
std::size_t sum_masked_as_released(Root& root, const Masked& share) {
  const auto contribution = [&share](std::size_t) -> const Masked& { return share; };
  return EITHER(root.sum(1, contribution).value(), root.sum_masked(1, contribution)).size();
}

// collect_secret: what a client sends the aggregator, if not to be summed, has been released.
// Expected: Secret.*function<|function<.*Released<|cannot convert|could not convert|no known conversion
void collect_secret(Root& root, const Either<Secret<Vector>, Released<Vector>>& own,
                    Released<std::vector<std::byte>>& messages) {
  root.collect(
      {3}, [&own](std::size_t) -> decltype(own) { return own; }, plain_codec(), messages);
}

// distribute_secret: what the aggregator sends one client has been released.
// Expected: Secret.*function<|function<.*Released<|cannot convert|could not convert|no known conversion
void distribute_secret(Root& root, const Either<Secret<Vector>, Released<Vector>>& own) {
  root.distribute(
      {3}, [&own](Client) -> decltype(own) { return own; }, plain_codec(), [](std::size_t, const Released<Vector>&) {});
}

// omd_with_root: the decentralized protocol mixes through the door between neighbours and cannot be given the
// aggregator's. Expected: Root.*to .*Neighbours
double omd_with_root(Either<Root, Neighbours>& door, const Schedule& schedule) {
  return SynchronousMixer(door, 1, schedule, MixingSettings()).in_flight(0);
}

// ---- Mechanisms

// release_without_path: a release must name the path by which it leaves its client.
// Expected: could not convert|cannot convert|no matching function|cannot initialize|invalid initialization
void release_without_path(Mechanism& mechanism, const NoiseKey& key, const Secret<Vector>& sum,
                          Released<Vector>& mean) {
  mechanism.release({EITHER(0, ReleasePath::by_itself), 0, 0}, 1, key, sum, mean);
}

// mechanism_without_charge: a mechanism that does not say what a release costs does not exist.
// Expected: starling::Charge starling::Protection::charge|Careless' is an abstract class
class Careless final : public Mechanism {
 public:
  using Mechanism::Mechanism;
  [[nodiscard]] Clip clip() const override { return {ClipKind::l1, 1}; }
#ifndef STARLING_MUST_FAIL
  [[nodiscard]] Charge charge(double /*price*/) const override {
    return Charge::pure(1);
  }
#endif
  [[nodiscard]] PriceKind price_kind() const override {
    return PriceKind::none;
  }
  [[nodiscard]] std::string description() const override {
    return "Trust me.";
  }
  void release(const ReleaseAddress& /*address*/, double /*price*/, const NoiseKey& /*key*/, const Secret<Vector>& sum,
               Released<Vector>& mean) override {
    publish_unprotected(sum, 1, mean);
  }
};
Careless mechanism_without_charge() {
  return Careless(ReleaseSettings());
}

// protection_releases: a protection under which single clients' sums stay hidden cannot be asked to release one.
// Expected: MaskedGaussian.* has no member named 'release'|no member named 'release' in 'starling::MaskedGaussian'
void protection_releases(Either<MaskedGaussian, Mechanism>& kind, const NoiseKey& key, const Secret<Vector>& sum,
                         Released<Vector>& mean) {
  kind.release({}, 1, key, sum, mean);
}

// l1_for_l2: a Gaussian cannot be calibrated with an L1 bound.
// Expected: Norm::l1.*Norm::l2|Norm::l2.*Norm::l1|Bound<.*Bound<
double l1_for_l2(const Either<Bound<Norm::l1>, Bound<Norm::l2>>& bound) {
  return gaussian_sigma(bound, 1);
}

// ---- What is computed from records

// dual_from_secret: a dual follows what has been released of a constraint, never its value on records.
// Expected: no matching (member )?function for call to .*update
void dual_from_secret(Released<Columns>& duals, const Either<Secret<double>, Released<double>>& c,
                      const DualSettings& settings) {
  duals.update([&](Columns& all, double value) { all[0][0] = next_multiplier(all[0][0], 1, value, settings); }, c);
}

// record_secret: what was computed from records is not recorded as it is.
// Expected: no match for .operator=.*Secret|no viable overloaded '='
void record_secret(FinalModels& models, const Secret<Vector>& gradient, const Released<Vector>& model) {
  std::ignore = gradient;
  models.mean = EITHER(gradient, model.value());
}
