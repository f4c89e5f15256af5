#include "starling/net/neighbours.hpp"

#include "exchange_plan.hpp"
#include "state.hpp"
#include <algorithm>

namespace starling {

namespace {

/// Up to here Isend and Irecv beat persistent requests (1.5 to 1.9 times at 5 entries), beyond they lose.
constexpr std::size_t persistent_from_length = 102;

}  // namespace

Neighbours::Plan::Plan(std::unique_ptr<State> state) : state_(std::move(state)) {}
Neighbours::Plan::Plan(Plan&&) noexcept = default;
Neighbours::Plan& Neighbours::Plan::operator=(Plan&&) noexcept = default;
Neighbours::Plan::~Plan() = default;

struct Neighbours::State {
  World::State& world;
  Layout layout;
  std::size_t length;
  Client first;
  std::size_t count;
  std::shared_ptr<EdgeCounts> counts;
  WireTraffic wire;

  /// Where a send's vectors start: in the outgoing block, or packed.
  [[nodiscard]] const double* source(const Plan::State& plan, const Transfer& send, View outgoing) const {
    return send.in_place ? outgoing.data() + plan.sent_columns[send.offset] * length
                         : plan.packed.data() + send.offset * length;
  }
  void pack(Plan::State& plan, View outgoing) const;
  void bind(Plan::State& plan, View outgoing) const;
  void post(Plan::State& plan, View outgoing) const;
  [[nodiscard]] std::string awaited(Round t, const Plan::State& plan) const;
};

void Neighbours::State::pack(Plan::State& plan, View outgoing) const {
  for (const Transfer& send : plan.sends) {
    if (send.in_place) continue;
    double* target = plan.packed.data() + send.offset * length;
    for (std::size_t i = 0; i < send.count; ++i) {
      target = std::copy_n(outgoing.data() + plan.sent_columns[send.offset + i] * length, length, target);
    }
  }
}

/// Sets up persistent requests, again if the outgoing block has moved.
void Neighbours::State::bind(Plan::State& plan, View outgoing) const {
  if (plan.bound_to == outgoing.data()) return;
  plan.free_requests();
  plan.requests.clear();
  for (const Transfer& receive : plan.receives) {
    MPI_Recv_init(plan.received.data() + receive.offset * length, static_cast<int>(receive.count * length), MPI_DOUBLE,
                  receive.rank, 0, world.data, &plan.requests.emplace_back());
  }
  for (const Transfer& send : plan.sends) {
    MPI_Send_init(source(plan, send, outgoing), static_cast<int>(send.count * length), MPI_DOUBLE, send.rank, 0,
                  world.data, &plan.requests.emplace_back());
  }
  plan.bound_to = outgoing.data();
}

void Neighbours::State::post(Plan::State& plan, View outgoing) const {
  plan.requests.assign(plan.receives.size() + plan.sends.size(), MPI_REQUEST_NULL);
  MPI_Request* request = plan.requests.data();
  for (const Transfer& receive : plan.receives) {
    MPI_Irecv(plan.received.data() + receive.offset * length, static_cast<int>(receive.count * length), MPI_DOUBLE,
              receive.rank, 0, world.data, request++);
  }
  for (const Transfer& send : plan.sends) {
    MPI_Isend(source(plan, send, outgoing), static_cast<int>(send.count * length), MPI_DOUBLE, send.rank, 0, world.data,
              request++);
  }
}

std::string Neighbours::State::awaited(Round t, const Plan::State& plan) const {
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    MPI_Request request = plan.requests[i];
    if (request == MPI_REQUEST_NULL) continue;
    int done = 0;
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    if (done != 0) continue;
    const bool receiving = i < plan.receives.size();
    const Transfer& transfer = receiving ? plan.receives[i] : plan.sends[i - plan.receives.size()];
    return fmt::format("round {}: {} rank {} (client {})", t + 1,
                       receiving ? "waiting for a message from" : "a message is not taken by", transfer.rank,
                       transfer.client);
  }
  return fmt::format("round {}: waiting for messages", t + 1);
}

Neighbours::Neighbours(World& world, const Layout& layout, std::size_t length)
    : state_(new State{world.state(),
                       layout,
                       length,
                       layout.first(world.rank()),
                       static_cast<std::size_t>(layout.count(world.rank())),
                       std::make_shared<EdgeCounts>(),
                       {}}) {
  world.state().set_active(layout);
}
Neighbours::~Neighbours() = default;

Client Neighbours::first() const {
  return state_->first;
}
std::size_t Neighbours::count() const {
  return state_->count;
}
std::size_t Neighbours::length() const {
  return state_->length;
}
bool Neighbours::begin_round(Round t) {
  return state_->world.begin_round(t);
}

Neighbours::Plan Neighbours::plan(std::span<const Links> links, PlanUse use, Parcels parcels) {
  auto plan = std::make_unique<Plan::State>();
  plan->counts = state_->counts;
  plan->parcels = parcels;
  plan->persistent = use == PlanUse::fixed_graph && state_->length >= persistent_from_length;
  plan->lay_out(links, state_->layout, state_->world.rank, state_->first, state_->length);
  if (use == PlanUse::fixed_graph) plan->drop_scratch();
  return Plan(std::move(plan));
}

void Neighbours::plan_again(Plan& plan, std::span<const Links> links) {
  Plan::State& p = *plan.state_;
  p.count_uses();
  p.free_requests();
  p.requests.clear();
  p.bound_to = nullptr;
  p.lay_out(links, state_->layout, state_->world.rank, state_->first, state_->length);
}

void Neighbours::exchange(Round t, Plan& plan, const Released<Columns>& outgoing) {
  Plan::State& p = *plan.state_;
  ++p.uses;
  if (p.receives.empty() && p.sends.empty()) return;  // Startall of no request is an error in Open MPI
  const View block = outgoing.value().flat();
  state_->pack(p, block);
  if (p.persistent) {
    state_->bind(p, block);
    MPI_Startall(static_cast<int>(p.requests.size()), p.requests.data());
  } else {
    state_->post(p, block);
  }
  state_->world.wait(p.requests, state_->world.watchdog, [&] { return state_->awaited(t, p); });
  for (const Transfer& send : p.sends) {
    ++state_->wire.messages;
    state_->wire.bytes += static_cast<std::int64_t>(send.count * state_->length * sizeof(double));
  }
}

Received Neighbours::received(const Plan& plan, const Released<Columns>& outgoing) const {
  const Plan::State& p = *plan.state_;
  Received result;
  result.block_ = outgoing.value().flat().data();
  result.buffer_ = p.received.data();
  result.length_ = state_->length;
  result.slots_ = p.slots.data();
  result.begin_ = p.slot_begin.data();
  return result;
}

void Neighbours::count_edges_of(const std::vector<Client>& senders) {
  state_->counts->only_of(senders);
}

std::vector<EdgeTraffic> Neighbours::edge_traffic() const {
  return state_->counts->list(static_cast<std::int64_t>(state_->length * sizeof(double)));
}

WireTraffic Neighbours::wire_traffic() const {
  return state_->wire;
}

void Neighbours::count(Plan& plan) {
  plan.state_->count_uses();
}

void Neighbours::persist(Snapshot& snapshot) {
  snapshot(*state_->counts, state_->wire);
}

}  // namespace starling
