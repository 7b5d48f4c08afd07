#pragma once
#include <cstdint>
#include <vector>

/// Who takes part in a federated round: pure functions of the seed, the round and the client.
namespace gradwire::trainers {

/// `count` of the clients 0 .. clients-1, ascending, drawn without replacement.
std::vector<int> sample_clients(int clients, int count, std::uint64_t seed, std::int64_t round);

/// Whether the client takes the model and is not heard of again in that round.
bool drops_out(int client, double probability, std::uint64_t seed, std::int64_t round);

}  // namespace gradwire::trainers
