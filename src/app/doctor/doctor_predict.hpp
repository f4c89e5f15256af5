/// Cost model of `starling doctor --predict`: the time of a round on a planned launch.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "graph/graph.hpp"
#include "net/traffic.hpp"

namespace starling {

class Agreement;
class World;

/// A planned launch. Times are in seconds, sizes in bytes.
struct Launch {
  int hosts = 1;
  int ranks = 1;         ///< on all hosts together, in blocks
  double cpus = 1;       ///< of each host; less than one where several share a CPU
  double latency = 0;    ///< one way, of a short message between programs on two hosts
  double bandwidth = 0;  ///< bytes per second that a host can send, and receive meanwhile; 0 where nothing limits it
  double eager = 65536;  ///< bytes up to which messages to another host are sent unasked (Open MPI over TCP: 64 kB)
  Client clients = 1;
  std::size_t dimension = 1000;
  std::size_t batch = 32;         ///< records of a client's step
  std::string topology;           ///< a file, or the spec of a family
  std::optional<double> message;  ///< CPU time of a message at each of its ends, where it is not to be measured

  /// The host of a rank.
  [[nodiscard]] int host_of(int rank) const { return static_cast<int>(std::int64_t{rank} * hosts / ranks); }
  /// Bytes of a message's vector: the model and its mass.
  [[nodiscard]] std::size_t bytes_of_vector() const { return (dimension + 1) * sizeof(double); }
};

/// Defaults for values that the spec of a prediction leaves out.
struct LaunchDefaults {
  std::optional<std::string> topology;
  std::optional<Client> clients;
  std::optional<Client> clients_per_rank;  ///< of the launch's ranks; not with `clients`
  std::size_t dimension = 1000;
  double cpus = 1;
};

/// Reads
/// `hosts=4,latency=50us,bandwidth=10Gbit,clients=…,dimension=…,topology=…,ranks=…,cpus=…,batch=…,message=…,eager=…`:
/// times with ns, us, ms or s, bandwidths per second with kbit, Mbit, Gbit, kB, MB or GB, sizes with B, kB or MB. Keys
/// after `topology` that are none of these belong to the topology (`topology=random-regular,degree=8`). The default is
/// one rank per host and one client per rank. Throws UsageError.
[[nodiscard]] Launch parse_launch(const std::string& text, const LaunchDefaults& defaults);
/// Checks that the cost of messages is known. A launch with messages must give the cost unless two ranks of a host can
/// time messages (`timed`). Throws UsageError.
void check_messages_known(const Launch& launch, bool timed);
/// Graph of the launch's topology and number of clients. Throws UsageError.
[[nodiscard]] std::unique_ptr<Graph> graph_of(const Launch& launch);

/// Costs of the parts of a round on this machine, in seconds.
struct Costs {
  double learning = 0;  ///< of a client's step: batch, clipping, noise, mirror map
  double gathered = 0;  ///< of a byte that mixing reads, of neighbours or of the client itself
  double message = 0;   ///< at each end of a message
};

/// **Collective.** Costs of the parts of a round on this machine: those of the slowest rank, the same on all ranks.
/// Each rank plays private rounds of some of the launch's clients for a second or two, all ranks at once. Two ranks of
/// a host send each other messages. Throws UsageError, before any measurement, where check_messages_known does.
[[nodiscard]] Costs measure_costs(World& world, Agreement& agreement, const Launch& launch, const Graph& graph);

/// A round's time, in seconds: the slowest rank's, averaged over rounds of the graph.
struct RoundForecast {
  double learning = 0;
  double mixing = 0;
  double messages = 0;   ///< CPU time of sending and receiving messages
  double latency = 0;    ///< of the way to another host
  double bandwidth = 0;  ///< while bytes pass between hosts
  [[nodiscard]] double exchange() const { return messages + latency + bandwidth; }
  [[nodiscard]] double seconds() const { return learning + mixing + exchange(); }
};

/// Predicted time of a round. Rank r does its clients' steps, sends and receives its messages, waits for messages of
/// other hosts, and mixes:
///   T = s (c_learn k + c_mix (e + k) b) + s c_msg m + λ [m_far > 0] + B/β
/// with k clients, e in-edges, b bytes a vector, m messages at its ends (but two of those between hosts, which are part
/// of the latency λ, which counts thrice where one of these is longer than `eager` and has to be asked for first), B
/// bytes that its host sends or receives, and s ranks for each CPU of its host where there are more ranks than CPUs.
/// Ranks of a host read each other's vectors in place (ExchangeWay::automatic): the bytes of these pass nowhere. As
/// every rank waits for others each round, the largest of each of the three parts counts.
[[nodiscard]] RoundForecast predict(const Launch& launch, const Graph& graph, const Costs& costs);

/// The largest part, in words.
[[nodiscard]] std::string bound_of(const RoundForecast& prediction);

/// A table, or one JSON object on a line: {prediction: {hosts, ranks, …, costs: {…}, seconds, learning, exchange,
/// mixing, exchange_parts: {messages, latency, bandwidth}, bound_by}}, in seconds.
[[nodiscard]] std::string prediction_table(const Launch& launch, const Costs& costs, const RoundForecast& prediction);
[[nodiscard]] std::string prediction_json(const Launch& launch, const Costs& costs, const RoundForecast& prediction);

}  // namespace starling
