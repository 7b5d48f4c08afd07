#include "trainers/replays/client_sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.h"

namespace gradwire::trainers {
namespace {

constexpr std::uint32_t kSampleStream = kFirstReservedTensor + 0x10000011u;
constexpr std::uint32_t kDropOutStream = kFirstReservedTensor + 0x10000012u;

}  // namespace

std::vector<int> sample_clients(int clients, int count, std::uint64_t seed, std::int64_t round) {
  std::vector<int> list(static_cast<std::size_t>(clients));
  std::iota(list.begin(), list.end(), 0);
  const RandomStream stream{seed, static_cast<std::uint32_t>(round), 0, kSampleStream};
  for (int i = 0; i < count; ++i) {  // the first of a shuffled list
    const double u = static_cast<double>(uniform(stream, static_cast<std::uint64_t>(i)));
    const int other = std::min(i + static_cast<int>(u * (clients - i)), clients - 1);
    std::swap(list[static_cast<std::size_t>(i)], list[static_cast<std::size_t>(other)]);
  }
  list.resize(static_cast<std::size_t>(count));
  std::sort(list.begin(), list.end());
  return list;
}

std::vector<int> sample_of(std::span<const int> candidates, int count, std::uint64_t seed,
                           std::int64_t round) {
  const auto all = static_cast<int>(candidates.size());
  std::vector<int> drawn = sample_clients(all, std::min(count, all), seed, round);
  for (int& each : drawn) each = candidates[static_cast<std::size_t>(each)];
  return drawn;
}

int clients_of_round(int first, double decay, int least, std::int64_t round) {
  const double share = std::exp(-decay * static_cast<double>(round));
  return std::min(first, std::max(least, static_cast<int>(std::ceil(share * first))));
}

bool drops_out(int client, double probability, std::uint64_t seed, std::int64_t round) {
  const RandomStream stream{seed, static_cast<std::uint32_t>(round),
                            static_cast<std::uint32_t>(client), kDropOutStream};
  return static_cast<double>(uniform(stream, 0)) < probability;
}

}  // namespace gradwire::trainers
