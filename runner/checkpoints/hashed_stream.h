#pragma once
#include <cstddef>
#include <cstdint>
#include <istream>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

#include "base/hash.h"

namespace gradwire::runner {

/// A hash over bytes that does not depend on how they come in parts.
class BlockHash {
 public:
  void add(const char* bytes, std::size_t count);
  std::uint64_t value() const;
  std::uint64_t length() const { return length_; }

 private:
  static constexpr std::size_t kBlock = 1 << 16;
  Hasher hasher_;
  std::vector<char> block_;  ///< what has not been hashed yet
  std::uint64_t length_ = 0;
};

/// Hashes what is written to another stream.
class HashedOut final : public std::streambuf {
 public:
  explicit HashedOut(std::ostream& out) : out_(out) {}
  HashedOut(std::ostream& out, BlockHash so_far) : out_(out), hash_(std::move(so_far)) {}
  const BlockHash& hash() const { return hash_; }

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int_type overflow(int_type byte) override;
  int sync() override;

  std::ostream& out_;
  BlockHash hash_;
};

/// Of the first `length` bytes of a stream that is read from where it is. Fewer, if it ends.
BlockHash hash_of(std::istream& in, std::uint64_t length);

}  // namespace gradwire::runner
