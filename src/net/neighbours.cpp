#include "starling/net/neighbours.hpp"

#include "state.hpp"
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace starling {

namespace {

/// Up to here Isend and Irecv beat persistent requests (1.5 to 1.9 times at 5 entries), beyond they lose.
constexpr std::size_t persistent_from_length = 102;

using EdgeCounts = std::map<std::pair<Client, Client>, std::int64_t>;

/// What goes to, or comes from, one other rank in one message.
struct Transfer {
  int rank = 0;
  std::vector<Client> clients;  ///< whose vectors, ascending
  std::size_t offset = 0;       ///< of the first vector, in vectors, in the receive or packing buffer
  bool in_place = false;        ///< sent from the outgoing block itself (its clients are adjacent columns)
};

std::vector<Transfer> transfers_of(const std::map<int, std::set<Client>>& by_rank) {
  std::vector<Transfer> result;
  std::size_t offset = 0;
  for (const auto& [rank, clients] : by_rank) {
    result.push_back({rank, {clients.begin(), clients.end()}, offset, false});
    offset += clients.size();
  }
  return result;
}

std::size_t vectors_in(const std::vector<Transfer>& transfers) {
  return transfers.empty() ? 0 : transfers.back().offset + transfers.back().clients.size();
}

}  // namespace

struct Neighbours::Plan::State {
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  /// Where the vector of each in-neighbour of each local client lies: below the number of local clients a column of the
  /// outgoing block, else a vector of the receive buffer.
  std::vector<std::vector<std::size_t>> slots;
  std::vector<std::pair<Client, Client>> edges;  ///< sent from here
  std::int64_t uses = 0;
  std::shared_ptr<EdgeCounts> counts;
  Vector packed;
  Vector received;
  std::vector<MPI_Request> requests;  ///< receives first, then sends
  bool persistent = false;
  const double* bound_to = nullptr;  ///< outgoing block that the persistent sends read

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (const auto& edge : edges) (*counts)[edge] += uses;
    free_requests();
  }
  void free_requests() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      // After a failure a receive may still be open on a buffer that is about to go.
      int done = 0;
      MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
      if (done == 0 && i < receives.size()) MPI_Cancel(&requests[i]);
      MPI_Request_free(&requests[i]);
    }
  }
};

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
    return send.in_place ? outgoing.data() + static_cast<std::size_t>(send.clients.front() - first) * length
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
    for (const Client v : send.clients) {
      target = std::copy_n(outgoing.data() + static_cast<std::size_t>(v - first) * length, length, target);
    }
  }
}

/// Sets up persistent requests, again if the outgoing block has moved.
void Neighbours::State::bind(Plan::State& plan, View outgoing) const {
  if (plan.bound_to == outgoing.data()) return;
  plan.free_requests();
  plan.requests.clear();
  for (const Transfer& receive : plan.receives) {
    MPI_Recv_init(plan.received.data() + receive.offset * length, static_cast<int>(receive.clients.size() * length),
                  MPI_DOUBLE, receive.rank, 0, world.data, &plan.requests.emplace_back());
  }
  for (const Transfer& send : plan.sends) {
    MPI_Send_init(source(plan, send, outgoing), static_cast<int>(send.clients.size() * length), MPI_DOUBLE, send.rank,
                  0, world.data, &plan.requests.emplace_back());
  }
  plan.bound_to = outgoing.data();
}

void Neighbours::State::post(Plan::State& plan, View outgoing) const {
  plan.requests.assign(plan.receives.size() + plan.sends.size(), MPI_REQUEST_NULL);
  MPI_Request* request = plan.requests.data();
  for (const Transfer& receive : plan.receives) {
    MPI_Irecv(plan.received.data() + receive.offset * length, static_cast<int>(receive.clients.size() * length),
              MPI_DOUBLE, receive.rank, 0, world.data, request++);
  }
  for (const Transfer& send : plan.sends) {
    MPI_Isend(source(plan, send, outgoing), static_cast<int>(send.clients.size() * length), MPI_DOUBLE, send.rank, 0,
              world.data, request++);
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
                       receiving ? transfer.clients.front() : layout.first(transfer.rank));
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
bool Neighbours::begin_round(Round t) {
  return state_->world.begin_round(t);
}

Neighbours::Plan Neighbours::plan(std::span<const Links> links, PlanUse use) {
  const State& here = *state_;
  auto plan = std::make_unique<Plan::State>();
  plan->counts = here.counts;
  std::map<int, std::set<Client>> to_send;
  std::map<int, std::set<Client>> to_receive;
  for (std::size_t k = 0; k < links.size(); ++k) {
    const Client u = here.first + static_cast<Client>(k);
    for (const Arc& arc : links[k].out) {
      plan->edges.emplace_back(u, arc.peer);
      if (const int rank = here.layout.rank_of(arc.peer); rank != here.world.rank) to_send[rank].insert(u);
    }
    for (const Arc& arc : links[k].in) {
      if (const int rank = here.layout.rank_of(arc.peer); rank != here.world.rank) to_receive[rank].insert(arc.peer);
    }
  }
  plan->sends = transfers_of(to_send);
  plan->receives = transfers_of(to_receive);
  for (Transfer& send : plan->sends) {
    send.in_place = send.clients.back() - send.clients.front() + 1 == static_cast<Client>(send.clients.size());
  }
  std::unordered_map<Client, std::size_t> slot_of;
  for (const Transfer& receive : plan->receives) {
    for (std::size_t i = 0; i < receive.clients.size(); ++i) {
      slot_of[receive.clients[i]] = here.count + receive.offset + i;
    }
  }
  for (const Links& each : links) {
    std::vector<std::size_t>& slots = plan->slots.emplace_back();
    for (const Arc& arc : each.in) {
      const auto remote = slot_of.find(arc.peer);
      slots.push_back(remote != slot_of.end() ? remote->second : static_cast<std::size_t>(arc.peer - here.first));
    }
  }
  plan->packed.resize(vectors_in(plan->sends) * here.length);
  plan->received.resize(vectors_in(plan->receives) * here.length);
  plan->persistent = use == PlanUse::fixed_graph && here.length >= persistent_from_length;
  return Plan(std::move(plan));
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
    state_->wire.bytes += static_cast<std::int64_t>(send.clients.size() * state_->length * sizeof(double));
  }
}

View Neighbours::received(const Plan& plan, std::size_t k, std::size_t i, const Released<Columns>& outgoing) const {
  const std::size_t slot = plan.state_->slots[k][i];
  if (slot < state_->count) return outgoing.value()[slot];
  return View(plan.state_->received).subspan((slot - state_->count) * state_->length, state_->length);
}

std::vector<EdgeTraffic> Neighbours::edge_traffic() const {
  std::vector<EdgeTraffic> result;
  const auto bytes = static_cast<std::int64_t>(state_->length * sizeof(double));
  for (const auto& [edge, messages] : *state_->counts) {
    result.push_back({edge.first, edge.second, messages, messages * bytes});
  }
  return result;
}

WireTraffic Neighbours::wire_traffic() const {
  return state_->wire;
}

}  // namespace starling
