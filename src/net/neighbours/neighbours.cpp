#include "net/neighbours/neighbours.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "core/check.hpp"
#include "exchange_plan.hpp"
#include "net/agreement.hpp"
#include "net/state.hpp"
#include "windows.hpp"

namespace starling {

namespace {

/// Up to here Isend and Irecv beat persistent requests (1.5 to 1.9 times at 5 entries), beyond they lose.
constexpr std::size_t persistent_from_length = 102;

/// Text of an error that names the awaited rank.
std::string waiting_for(Round t, bool receiving, const Transfer& transfer) {
  return fmt::format("round {}: {} rank {} (client {})", t + 1,
                     receiving ? "waiting for a message from" : "a message is not taken by", transfer.rank,
                     transfer.client);
}

/// MPI counts the bytes of a message in an int.
int checked_bytes(std::size_t bytes, int rank) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  check(bytes <= most,
        "a sealed message of {} bytes between this rank and rank {}: MPI counts to {}. Start more ranks, so that fewer "
        "clients share one.",
        bytes, rank, most);
  return static_cast<int>(bytes);
}

LinksOf one_by_one(std::span<const Links> links, std::size_t clients) {
  check(links.size() == clients, "the links of {} clients of {}: each of a rank's needs its own.", links.size(),
        clients);
  return [links](std::size_t k) -> const Links& { return links[k]; };
}

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
  std::unique_ptr<Windows> windows;
  std::array<std::vector<Transfer>, 2> readers;  ///< of this rank's blocks there, when they were last used
  std::string note;
  std::shared_ptr<Released<Columns>> block = nullptr;  ///< for what does not go through windows
  std::shared_ptr<Buffers> buffers = std::make_shared<Buffers>();
  WireTraffic wire = {};

  void open(World& the_world, ExchangeWay way);
  void begin_turn(Round t);
  void publish(Round t, Plan::State& plan, View outgoing);
  void wait(Round t, Plan::State& plan);
  /// Start of the vectors of a send: in the outgoing block, or packed.
  [[nodiscard]] const double* source(const Plan::State& plan, const Transfer& send, View outgoing) const {
    return send.in_place ? outgoing.data() + plan.sent_columns[send.offset] * length
                         : plan.buffers->packed.data() + send.offset * length;
  }
  void pack(Plan::State& plan, View outgoing) const;
  void bind(Plan::State& plan, View outgoing) const;
  void post(Round t, Plan::State& plan, View outgoing) const;
  /// Opens the messages that have come sealed.
  void open_sealed(Round t, Plan::State& plan) const;
  void add_to_wire(const std::vector<Transfer>& transfers);
  [[nodiscard]] std::string awaited(Round t, const Plan::State& plan) const;
};

void Neighbours::State::open(World& the_world, ExchangeWay way) {
  if (way == ExchangeWay::messages || the_world.size() == 1) return;
  if (world.seal && world.seal->seals_within_host()) return;  // what lies in memory that others read is not sealed
  std::string why_not;
  windows = open_windows(the_world, layout, length, why_not);
  if (why_not.empty()) return;
  if (way == ExchangeWay::windows) {
    Agreement(the_world).together([&] {
      fail<FailureError>("no windows between the ranks of a host: {} let vectors go as messages: --exchange messages",
                         why_not);
    });
  }
  note = fmt::format("vectors go as messages between the ranks of a host: {}", why_not);
}

/// Waits until this rank's block is free.
void Neighbours::State::begin_turn(Round t) {
  if (windows->is_begun()) return;
  windows->begin();
  const std::vector<Transfer>& last = readers[windows->block_of(windows->turn())];
  std::size_t i = 0;
  unsigned looks = 0;
  const auto free = [&] {
    while (i < last.size() && windows->has_finished(last[i].rank)) ++i;
    if (i == last.size()) return true;
    windows->idle(looks++);
    return false;
  };
  world.wait_until(free, [&] { return waiting_for(t, false, last[i]); });
}

/// Lets others read what goes out, once it is in this rank's block if it has been written elsewhere.
void Neighbours::State::publish(Round t, Plan::State& plan, View outgoing) {
  begin_turn(t);
  const MutableView block_of_turn = windows->place();
  if (outgoing.data() != block_of_turn.data())
    std::copy_n(outgoing.begin(), block_of_turn.size(), block_of_turn.begin());
  windows->publish();
  plan.last_block = windows->block_of(windows->turn());
  readers[plan.last_block] = plan.readers;
}

/// For messages and windows together: while it waits for these, those get on.
void Neighbours::State::wait(Round t, Plan::State& plan) {
  const auto words = [&] { return awaited(t, plan); };
  if (plan.windows == nullptr) return world.wait(plan.requests, world.watchdog, std::cref(words));
  std::size_t i = 0;
  unsigned looks = 0;
  int done = plan.requests.empty() ? 1 : 0;
  const auto all_there = [&] {
    while (i < plan.writers.size() && windows->has_published(plan.writers[i].rank)) ++i;
    if (done == 0) {
      MPI_Testall(static_cast<int>(plan.requests.size()), plan.requests.data(), &done, MPI_STATUSES_IGNORE);
    }
    if (done != 0 && i == plan.writers.size()) return true;
    if (i < plan.writers.size()) windows->idle(looks++);
    return false;
  };
  world.wait_until(all_there,
                   [&] { return i == plan.writers.size() ? words() : waiting_for(t, true, plan.writers[i]); });
}

void Neighbours::State::add_to_wire(const std::vector<Transfer>& transfers) {
  for (const Transfer& transfer : transfers) {
    ++wire.messages;
    wire.bytes += static_cast<std::int64_t>(transfer.count * length * sizeof(double));
  }
}

void Neighbours::State::pack(Plan::State& plan, View outgoing) const {
  for (const Transfer& send : plan.sends) {
    if (send.in_place) continue;
    double* target = plan.buffers->packed.data() + send.offset * length;
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
    MPI_Recv_init(plan.buffers->received.data() + receive.offset * length, static_cast<int>(receive.count * length),
                  MPI_DOUBLE, receive.rank, 0, world.data, &plan.requests.emplace_back());
  }
  for (const Transfer& send : plan.sends) {
    MPI_Send_init(source(plan, send, outgoing), static_cast<int>(send.count * length), MPI_DOUBLE, send.rank, 0,
                  world.data, &plan.requests.emplace_back());
  }
  plan.bound_to = outgoing.data();
}

void Neighbours::State::post(Round t, Plan::State& plan, View outgoing) const {
  plan.requests.assign(plan.receives.size() + plan.sends.size(), MPI_REQUEST_NULL);
  MPI_Request* request = plan.requests.data();
  const auto way_of = [&](int rank, std::size_t plain) -> std::span<std::byte> {
    std::vector<std::vector<std::byte>>& sealed = plan.buffers->sealed;
    if (sealed.size() < plan.requests.size()) sealed.resize(plan.requests.size());
    std::vector<std::byte>& way = sealed[static_cast<std::size_t>(request - plan.requests.data())];
    way.resize(world.seal->size(rank, plain));
    return way;
  };
  for (const Transfer& receive : plan.receives) {
    if (world.seals(receive.rank)) {
      const std::span<std::byte> way = way_of(receive.rank, receive.count * length * sizeof(double));
      MPI_Irecv(way.data(), checked_bytes(way.size(), receive.rank), MPI_BYTE, receive.rank, 0, world.data, request++);
      continue;
    }
    MPI_Irecv(plan.buffers->received.data() + receive.offset * length, static_cast<int>(receive.count * length),
              MPI_DOUBLE, receive.rank, 0, world.data, request++);
  }
  for (const Transfer& send : plan.sends) {
    if (world.seals(send.rank)) {
      const auto plain = std::as_bytes(View(source(plan, send, outgoing), send.count * length));
      const std::span<std::byte> way = way_of(send.rank, plain.size());
      world.seal->close(MessageKind::neighbours, send.rank, t, plain, way);
      MPI_Isend(way.data(), checked_bytes(way.size(), send.rank), MPI_BYTE, send.rank, 0, world.data, request++);
      continue;
    }
    MPI_Isend(source(plan, send, outgoing), static_cast<int>(send.count * length), MPI_DOUBLE, send.rank, 0, world.data,
              request++);
  }
}

void Neighbours::State::open_sealed(Round t, Plan::State& plan) const {
  for (std::size_t i = 0; i < plan.receives.size(); ++i) {
    const Transfer& receive = plan.receives[i];
    if (!world.seals(receive.rank)) continue;
    const MutableView plain(plan.buffers->received.data() + receive.offset * length, receive.count * length);
    world.seal->open(MessageKind::neighbours, receive.rank, t, plan.buffers->sealed[i], std::as_writable_bytes(plain));
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
    return waiting_for(t, receiving, transfer);
  }
  return fmt::format("round {}: waiting for messages", t + 1);
}

Neighbours::Neighbours(World& world, const Layout& layout, std::size_t length, ExchangeWay way)
    : state_(new State{world.state(),
                       layout,
                       length,
                       layout.first(world.rank()),
                       static_cast<std::size_t>(layout.count(world.rank())),
                       std::make_shared<EdgeCounts>(),
                       {},
                       {},
                       {}}) {
  world.state().set_active(layout);
  state_->open(world, way);
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
bool Neighbours::has_windows() const {
  return state_->windows != nullptr;
}
const std::string& Neighbours::note() const {
  return state_->note;
}
bool Neighbours::begin_round(Round t) {
  return state_->world.begin_round(t);
}

Neighbours::Plan Neighbours::plan(const LinksOf& links, PlanUse use, Parcels parcels) {
  auto plan = std::make_unique<Plan::State>();
  plan->counts = state_->counts;
  plan->world = &state_->world;
  plan->parcels = parcels;
  plan->windows = parcels == Parcels::per_sender ? state_->windows.get() : nullptr;
  plan->persistent = use == PlanUse::fixed_graph && state_->length >= persistent_from_length &&
                     plan->windows == nullptr && !state_->world.seal;  // a sealed message is another in each round
  plan->buffers = plan->persistent ? std::make_shared<Buffers>() : state_->buffers;
  plan->lay_out(links, state_->layout, state_->world.rank, state_->length);
  if (use != PlanUse::changing_graph) plan->drop_scratch();
  return Plan(std::move(plan));
}

Neighbours::Plan Neighbours::plan(std::span<const Links> links, PlanUse use, Parcels parcels) {
  return plan(one_by_one(links, count()), use, parcels);
}

void Neighbours::plan_again(Plan& plan, std::span<const Links> links) {
  plan_again(plan, one_by_one(links, count()));
}

void Neighbours::plan_again(Plan& plan, const LinksOf& links) {
  Plan::State& p = *plan.state_;
  p.count_uses();
  p.free_requests();
  p.requests.clear();
  p.bound_to = nullptr;
  p.lay_out(links, state_->layout, state_->world.rank, state_->length);
}

Released<Columns>& Neighbours::outgoing(Round t, const Plan& plan) {
  const Plan::State& p = *plan.state_;
  if (p.windows != nullptr) {
    state_->begin_turn(t);
    return state_->windows->block();
  }
  std::shared_ptr<Released<Columns>>& block = state_->block;
  if (!block || block->value().size() < p.columns) {
    block.reset();
    block = std::make_shared<Released<Columns>>(declare_public(Columns(length(), p.columns)));
  }
  return *block;
}

void Neighbours::exchange(Round t, Plan& plan, const Released<Columns>& outgoing) {
  Plan::State& p = *plan.state_;
  const bool moves = !(p.receives.empty() && p.sends.empty() && p.writers.empty());
  if (moves) p.make_room(state_->length);
  ++p.uses;
  const View block = outgoing.value().flat();
  const bool of_door = &outgoing == state_->block.get();
  if (p.sent_from.get() != (of_door ? &outgoing : nullptr)) p.sent_from = of_door ? state_->block : nullptr;
  if (p.windows != nullptr) state_->publish(t, p, block);
  p.blocks[p.last_block][Plan::State::sent_block] = block.data();
  p.blocks[p.last_block][Plan::State::received_block] = p.buffers->received.data();
  state_->add_to_wire(p.sends);
  state_->add_to_wire(p.readers);
  if (!moves) return;
  state_->pack(p, block);
  if (p.persistent) {
    state_->bind(p, block);
    MPI_Startall(static_cast<int>(p.requests.size()), p.requests.data());
  } else {
    state_->post(t, p, block);
  }
  state_->wait(t, p);
  if (state_->world.seal) state_->open_sealed(t, p);
}

Received Neighbours::received(const Plan& plan) const {
  const Plan::State& p = *plan.state_;
  Received result;
  result.blocks_ = p.blocks[p.last_block].data();
  result.column_bits_ = p.column_bits;
  result.length_ = state_->length;
  result.slots_ = p.slots.data();
  result.begin_ = p.slot_begin.data();
  return result;
}

void Neighbours::finish_reading() {
  if (has_windows() && !state_->windows->is_begun()) state_->windows->finish();
}

void Neighbours::give_back_room() {
  *state_->buffers = {};
  state_->block.reset();
  if (has_windows()) state_->windows->give_back_room();
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
