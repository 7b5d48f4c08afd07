#include <algorithm>
#include <functional>

#include "compressors/coding/huffman.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr int kSymbolBits = 16;  // a subtree's key: weight << 16 | its smallest symbol
constexpr int kLargestLimit = 31;

/// Views of the scratch. The heap and the tree serve plain Huffman, the rest package-merge.
struct Workspace {
  std::span<std::uint64_t> heap;     ///< [alphabet]: keys of the subtrees' roots
  std::span<std::uint64_t> weights;  ///< [4 * alphabet]: two rows of package-merge
  std::span<std::uint32_t> parents;  ///< [2 * alphabet]: of leaves, then of inner nodes
  std::span<std::uint32_t> roots;    ///< [alphabet]: the node whose smallest symbol this is
  std::span<std::uint8_t> packages;  ///< [limit rows of 2 * alphabet bits]: 1 = a package
};

std::size_t row_bytes(std::size_t alphabet) {
  return (2 * alphabet + 7) / 8;
}

Workspace workspace_in(std::span<std::byte> scratch, std::size_t alphabet) {
  GRADWIRE_ASSERT(scratch.size() >= huffman_scratch_size(alphabet));
  const auto wide = view_as<std::uint64_t>(scratch, 5 * alphabet);
  const auto words = view_as<std::uint32_t>(scratch.subspan(40 * alphabet), 3 * alphabet);
  const auto tail = scratch.subspan(padded_to_8(52 * alphabet));
  return {wide.first(alphabet),
          wide.subspan(alphabet),
          words.first(2 * alphabet),
          words.subspan(2 * alphabet),
          {reinterpret_cast<std::uint8_t*>(tail.data()), kLargestLimit * row_bytes(alphabet)}};
}

std::uint64_t key_of(std::uint64_t weight, std::size_t symbol) {
  return weight << kSymbolBits | symbol;
}

std::size_t symbol_of(std::uint64_t key) {
  return static_cast<std::size_t>(key & 0xFFFF);
}

std::uint64_t pop_lightest(std::span<std::uint64_t> heap, std::size_t& size) {
  const auto begin = heap.begin();
  std::pop_heap(begin, begin + static_cast<std::ptrdiff_t>(size), std::greater<>());
  return heap[--size];
}

void push(std::span<std::uint64_t> heap, std::size_t& size, std::uint64_t key) {
  heap[size++] = key;
  std::push_heap(heap.begin(), heap.begin() + static_cast<std::ptrdiff_t>(size), std::greater<>());
}

/// The symbols present, as keys; lengths = 0 for them and kHuffmanAbsent for the others.
std::size_t collect_present(std::span<const std::uint32_t> counts, std::span<std::uint8_t> lengths,
                            std::span<std::uint64_t> keys) {
  std::size_t present = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    lengths[s] = counts[s] == 0 ? kHuffmanAbsent : std::uint8_t{0};
    if (counts[s] != 0) keys[present++] = key_of(counts[s], s);
  }
  return present;
}

/// Joins subtrees until one is left. Nodes [alphabet, result) are inner ones, children first.
std::size_t join_subtrees(const Workspace& work, std::size_t alphabet, std::size_t present) {
  std::size_t size = present, nodes = alphabet;
  const auto heap = work.heap;
  std::make_heap(heap.begin(), heap.begin() + static_cast<std::ptrdiff_t>(size), std::greater<>());
  for (std::size_t i = 0; i < size; ++i)
    work.roots[symbol_of(heap[i])] = static_cast<std::uint32_t>(symbol_of(heap[i]));
  while (size > 1) {
    const std::uint64_t a = pop_lightest(heap, size), b = pop_lightest(heap, size);
    const auto node = static_cast<std::uint32_t>(nodes++);
    work.parents[work.roots[symbol_of(a)]] = work.parents[work.roots[symbol_of(b)]] = node;
    const std::size_t smallest = std::min(symbol_of(a), symbol_of(b));
    work.roots[smallest] = node;
    push(heap, size, key_of((a >> kSymbolBits) + (b >> kSymbolBits), smallest));
  }
  return nodes;
}

/// Depths from the root down; the depth of an inner node takes the place of its parent.
int depths_of(const Workspace& work, std::size_t nodes, std::span<std::uint8_t> lengths) {
  const std::size_t alphabet = lengths.size();
  std::uint32_t longest = 0;
  work.parents[nodes - 1] = 0;
  for (std::size_t node = nodes - 1; node-- > alphabet;)
    work.parents[node] = work.parents[work.parents[node]] + 1;
  for (std::size_t s = 0; s < alphabet; ++s) {
    if (lengths[s] == kHuffmanAbsent) continue;
    const std::uint32_t depth = work.parents[work.parents[s]] + 1;
    longest = std::max(longest, depth);
    lengths[s] = static_cast<std::uint8_t>(std::min(depth, 254u));  // beyond any limit
  }
  return static_cast<int>(longest);
}

int plain_lengths(std::span<const std::uint32_t> counts, std::span<std::uint8_t> lengths,
                  const Workspace& work) {
  const std::size_t present = collect_present(counts, lengths, work.heap);
  if (present < 2) return 0;
  return depths_of(work, join_subtrees(work, counts.size(), present), lengths);
}

// ---- package-merge: row d holds what may be bought for codes of at least d bits: the symbols, and
// ---- pairs of neighbours from the row of d + 1. The cheapest 2 m - 2 items of row 1 are bought.

/// Merges the leaves with the packages of `below` into `row`, by weight, leaves first.
std::size_t merge_row(std::span<const std::uint64_t> leaves, std::span<const std::uint64_t> below,
                      std::span<std::uint64_t> row, std::uint8_t* packages) {
  const std::size_t pairs = below.size() / 2, items = leaves.size() + pairs;
  for (std::size_t i = 0, leaf = 0, pair = 0; i < items; ++i) {
    const std::uint64_t package =
        pair < pairs ? below[2 * pair] + below[2 * pair + 1] : ~std::uint64_t{0};
    const bool takes_leaf = leaf < leaves.size() && leaves[leaf] >> kSymbolBits <= package;
    row[i] = takes_leaf ? leaves[leaf++] >> kSymbolBits : package;
    pair += takes_leaf ? 0 : 1;
    const auto bit = static_cast<std::uint8_t>(1u << (i % 8));
    packages[i / 8] =
        static_cast<std::uint8_t>(takes_leaf ? packages[i / 8] & ~bit : packages[i / 8] | bit);
  }
  return items;
}

/// Symbols in the order in which codes grow shorter: by count, then from the largest symbol down.
std::span<const std::uint64_t> sorted_leaves(std::span<const std::uint32_t> counts,
                                             std::span<std::uint8_t> lengths,
                                             std::span<std::uint64_t> keys) {
  const std::size_t present = collect_present(counts, lengths, keys);
  std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(present),
            [](std::uint64_t a, std::uint64_t b) { return (a ^ 0xFFFF) < (b ^ 0xFFFF); });
  return keys.first(present);
}

void package_merge(std::span<const std::uint32_t> counts, int limit,
                   std::span<std::uint8_t> lengths, const Workspace& work) {
  const std::size_t alphabet = counts.size(), stride = row_bytes(alphabet);
  const auto leaves = sorted_leaves(counts, lengths, work.heap);
  GRADWIRE_ASSERT(limit <= kLargestLimit && leaves.size() <= std::size_t{1} << limit);
  std::span<std::uint64_t> below = work.weights.first(0);
  for (int depth = limit; depth >= 1; --depth) {
    const auto row = work.weights.subspan(depth % 2 == 0 ? 0 : 2 * alphabet, 2 * alphabet);
    std::uint8_t* packages = work.packages.data() + static_cast<std::size_t>(depth - 1) * stride;
    below = row.first(merge_row(leaves, below, row, packages));
  }
  std::size_t bought = 2 * leaves.size() - 2;
  for (int depth = 1; depth <= limit && bought > 0; ++depth) {
    const std::uint8_t* packages =
        work.packages.data() + static_cast<std::size_t>(depth - 1) * stride;
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < bought; ++i) pairs += packages[i / 8] >> (i % 8) & 1;
    for (std::size_t i = 0; i < bought - pairs; ++i) ++lengths[symbol_of(leaves[i])];
    bought = 2 * pairs;
  }
}

int longest_of(std::span<const std::uint8_t> lengths) {
  int longest = 0;
  for (const std::uint8_t length : lengths)
    if (length != kHuffmanAbsent) longest = std::max(longest, int{length});
  return longest;
}

}  // namespace

std::size_t huffman_scratch_size(std::size_t alphabet) {
  GRADWIRE_ASSERT(alphabet <= kHuffmanAlphabet);
  return padded_to_8(padded_to_8(52 * alphabet) + kLargestLimit * row_bytes(alphabet));
}

int huffman_lengths(std::span<const std::uint32_t> counts, int limit,
                    std::span<std::uint8_t> lengths, std::span<std::byte> scratch) {
  GRADWIRE_ASSERT(counts.size() == lengths.size() && limit >= 1);
  const Workspace work = workspace_in(scratch, counts.size());
  const int longest = plain_lengths(counts, lengths, work);
  if (longest <= limit) return longest;
  package_merge(counts, limit, lengths, work);
  return longest_of(lengths);
}

int huffman_lengths(std::span<const std::uint32_t> counts, std::span<std::uint8_t> lengths,
                    std::span<std::byte> scratch) {
  GRADWIRE_ASSERT(counts.size() == lengths.size());
  const Workspace work = workspace_in(scratch, counts.size());
  const int longest = plain_lengths(counts, lengths, work);
  if (longest <= kHuffmanShort) return longest;
  const std::uint64_t least = huffman_bits(counts, lengths);
  const auto present = lengths.size() - static_cast<std::size_t>(std::count(
                                            lengths.begin(), lengths.end(), kHuffmanAbsent));
  if (present <= std::size_t{1} << kHuffmanShort) {
    package_merge(counts, kHuffmanShort, lengths, work);
    if (huffman_bits(counts, lengths) <= least + least / 64) return longest_of(lengths);
  }
  return huffman_lengths(counts, kHuffmanLong, lengths, scratch);
}

std::uint64_t huffman_bits(std::span<const std::uint32_t> counts,
                           std::span<const std::uint8_t> lengths) {
  std::uint64_t bits = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) bits += std::uint64_t{counts[s]} * lengths[s];
  return bits;
}

}  // namespace gradwire::compressors
