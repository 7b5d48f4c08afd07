#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// Who takes part in a federated round: pure functions of the seed, the round and the client.
namespace gradwire::trainers {

/// `count` of the clients 0 .. clients-1, ascending, drawn without replacement.
std::vector<int> sample_clients(int clients, int count, std::uint64_t seed, std::int64_t round);

/// The same of `candidates`, all of them where they are fewer. Of all clients, ascending:
/// sample_clients().
std::vector<int> sample_of(std::span<const int> candidates, int count, std::uint64_t seed,
                           std::int64_t round);

/// How many clients round t draws: ceil(first e^(-decay t)), but `least` at least and `first` at
/// most (Ji, Jiang, Walid, Li: "Dynamic sampling and selective masking for communication-efficient
/// federated learning", arXiv 2003.09603).
int clients_of_round(int first, double decay, int least, std::int64_t round);

/// Whether the client takes the model and is not heard of again in that round.
bool drops_out(int client, double probability, std::uint64_t seed, std::int64_t round);

}  // namespace gradwire::trainers
