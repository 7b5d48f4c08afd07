#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <streambuf>
#include <vector>

#include "base/hash.h"

/// Content in blocks: u64 length, bytes, u64 hash of all blocks so far; the last has length 0. A
/// block is checked before anything of it is read.
namespace gradwire::trainers {

inline constexpr std::size_t kBlockBytes = 1 << 20;

class BlockWriter final : public std::streambuf {
 public:
  explicit BlockWriter(std::ostream& out);
  /// Writes what is left, and the last block.
  void finish();

 private:
  int_type overflow(int_type byte) override;
  void write_block();

  std::ostream& out_;
  std::vector<char> block_;
  Hasher hasher_;
};

class BlockReader final : public std::streambuf {
 public:
  explicit BlockReader(std::istream& in) : in_(in) {}

 private:
  /// Throws Error for a block that is damaged, or ends too early.
  int_type underflow() override;

  std::istream& in_;
  std::vector<char> block_;
  Hasher hasher_;
  bool ended_ = false;
};

}  // namespace gradwire::trainers
