#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

/// Folding: what is symmetric is simulated once. Hosts stand in columns; if every column is the
/// image of the one before it (its links, its operations, the sizes of its messages), what happens
/// in one happens in all at the same moments, and a few of them are as good as all.
namespace gradwire::sim {

/// Hosts by rank, in columns of `rows` each: rank r is in column r / rows.
struct Columns {
  std::vector<std::int32_t> hosts;
  std::int32_t rows = 1;

  std::int32_t ranks() const { return static_cast<std::int32_t>(hosts.size()); }
  std::int32_t count() const { return ranks() / rows; }
};

/// Columns that a fold keeps, in a ring as all of them are. A column meets at most those beside it,
/// so that in a ring of five who meets whom is what it is in a larger one.
inline constexpr std::int32_t kKeptColumns = 5;
/// Fewer columns are not folded: it would save nothing.
inline constexpr std::int32_t kLeastColumns = 16;

/// Rank `rank` of all, as one of those that are kept.
inline std::int32_t kept_rank(std::int32_t rank, std::int32_t rows) {
  return rank % (kKeptColumns * rows);
}

}  // namespace gradwire::sim
