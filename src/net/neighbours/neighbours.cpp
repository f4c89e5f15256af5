#include "net/neighbours/neighbours.hpp"

#include <algorithm>
#include <array>

#include "core/check.hpp"
#include "exchange_plan.hpp"
#include "net/agreement.hpp"
#include "net/state.hpp"
#include "windows.hpp"

namespace starling {

namespace {

/// Up to here Isend and Irecv beat persistent requests (1.5 to 1.9 times at 5 entries), beyond they lose.
constexpr std::size_t persistent_from_length = 102;

/// Bytes of a piece of a sealed message, with its tag. MPI sends so many at once without asking the receiver, so that a
/// piece travels while the next one is sealed.
constexpr std::size_t sealed_piece = 32768;

/// Text of an error that names the awaited rank.
std::string waiting_for(Round t, bool receiving, const Transfer& transfer) {
  return fmt::format("round {}: {} rank {} (client {})", t + 1,
                     receiving ? "waiting for a message from" : "a message is not taken by", transfer.rank,
                     transfer.client);
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
  /// Opens sealed messages piece by piece, each as soon as it has come.
  void open_sealed(Round t, Plan::State& plan);
  [[nodiscard]] static std::span<std::byte> way_of(Plan::State& plan, std::size_t transfer, std::size_t plain);
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
  plan.requests.clear();
  plan.owners.clear();
  const auto next = [&plan](std::size_t transfer) {
    plan.owners.push_back(transfer);
    return &plan.requests.emplace_back(MPI_REQUEST_NULL);
  };
  for (std::size_t i = 0; i < plan.receives.size(); ++i) {
    const Transfer& receive = plan.receives[i];
    if (!world.seals(receive.rank)) {
      MPI_Irecv(plan.buffers->received.data() + receive.offset * length, static_cast<int>(receive.count * length),
                MPI_DOUBLE, receive.rank, 0, world.data, next(i));
      continue;
    }
    const std::span<std::byte> way = way_of(plan, i, receive.count * length * sizeof(double));
    for (std::size_t at = 0; at < way.size(); at += sealed_piece) {
      const std::size_t size = std::min(sealed_piece, way.size() - at);
      MPI_Irecv(way.data() + at, static_cast<int>(size), MPI_BYTE, receive.rank, 0, world.data, next(i));
    }
  }
  for (std::size_t k = 0; k < plan.sends.size(); ++k) {
    const Transfer& send = plan.sends[k];
    const std::size_t i = plan.receives.size() + k;
    if (!world.seals(send.rank)) {
      MPI_Isend(source(plan, send, outgoing), static_cast<int>(send.count * length), MPI_DOUBLE, send.rank, 0,
                world.data, next(i));
      continue;
    }
    std::span<const std::byte> plain = std::as_bytes(View(source(plan, send, outgoing), send.count * length));
    const std::span<std::byte> way = way_of(plan, i, plain.size());
    for (std::size_t at = 0; at < way.size(); at += sealed_piece) {
      const std::span<std::byte> piece = way.subspan(at, std::min(sealed_piece, way.size() - at));
      const std::size_t size = piece.size() - Seal::tag_size;
      world.seal->close(MessageKind::neighbours, send.rank, t, plain.first(size), piece);
      plain = plain.subspan(size);
      MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, send.rank, 0, world.data, next(i));
    }
  }
}

/// Room for the sealed pieces of a transfer: receives, then sends.
std::span<std::byte> Neighbours::State::way_of(Plan::State& plan, std::size_t transfer, std::size_t plain) {
  std::vector<std::vector<std::byte>>& sealed = plan.buffers->sealed;
  if (sealed.size() <= transfer) sealed.resize(plan.receives.size() + plan.sends.size());
  constexpr std::size_t of_piece = sealed_piece - Seal::tag_size;
  const std::size_t pieces = std::max<std::size_t>((plain + of_piece - 1) / of_piece, 1);
  sealed[transfer].resize(plain + pieces * Seal::tag_size);
  return sealed[transfer];
}

void Neighbours::State::open_sealed(Round t, Plan::State& plan) {
  const bool together = plan.windows != nullptr;  // all have been waited for
  std::size_t request = 0;
  for (std::size_t i = 0; i < plan.receives.size(); ++i) {
    const Transfer& receive = plan.receives[i];
    if (!world.seals(receive.rank)) {
      ++request;
      continue;
    }
    std::span<std::byte> plain = std::as_writable_bytes(
        MutableView(plan.buffers->received.data() + receive.offset * length, receive.count * length));
    const std::span<const std::byte> way = plan.buffers->sealed[i];
    for (std::size_t at = 0; at < way.size(); at += sealed_piece, ++request) {
      if (!together) {
        world.wait(std::span(plan.requests).subspan(request, 1), world.watchdog, [&] { return awaited(t, plan); });
      }
      const std::span<const std::byte> piece = way.subspan(at, std::min(sealed_piece, way.size() - at));
      const std::size_t size = piece.size() - Seal::tag_size;
      world.seal->open(MessageKind::neighbours, receive.rank, t, piece, plain.first(size));
      plain = plain.subspan(size);
    }
  }
}

std::string Neighbours::State::awaited(Round t, const Plan::State& plan) const {
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    MPI_Request request = plan.requests[i];
    if (request == MPI_REQUEST_NULL) continue;
    int done = 0;
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    if (done != 0) continue;
    const std::size_t of = plan.owners.empty() ? i : plan.owners[i];
    const bool receiving = of < plan.receives.size();
    const Transfer& transfer = receiving ? plan.receives[of] : plan.sends[of - plan.receives.size()];
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
  if (state_->world.seal && p.windows == nullptr) state_->open_sealed(t, p);
  state_->wait(t, p);
  if (state_->world.seal && p.windows != nullptr) state_->open_sealed(t, p);
  state_->world.throw_mpi_error();
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
