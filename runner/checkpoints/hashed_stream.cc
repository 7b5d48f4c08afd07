#include "runner/checkpoints/hashed_stream.h"

#include <algorithm>
#include <span>

namespace gradwire::runner {

void BlockHash::add(const char* bytes, std::size_t count) {
  length_ += count;
  while (count > 0) {
    const std::size_t part = std::min(count, kBlock - block_.size());
    block_.insert(block_.end(), bytes, bytes + part);
    bytes += part;
    count -= part;
    if (block_.size() < kBlock) return;
    hasher_.add_bytes(std::as_bytes(std::span(block_)));
    block_.clear();
  }
}

std::uint64_t BlockHash::value() const {
  Hasher hasher = hasher_;
  hasher.add_bytes(std::as_bytes(std::span(block_)));
  return hasher.value();
}

std::streamsize HashedOut::xsputn(const char* bytes, std::streamsize count) {
  if (!out_.write(bytes, count)) return 0;
  hash_.add(bytes, static_cast<std::size_t>(count));
  return count;
}

HashedOut::int_type HashedOut::overflow(int_type byte) {
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  const char one = traits_type::to_char_type(byte);
  return xsputn(&one, 1) == 1 ? byte : traits_type::eof();
}

int HashedOut::sync() {
  return out_.flush() ? 0 : -1;
}

BlockHash hash_of(std::istream& in, std::uint64_t length) {
  BlockHash hash;
  std::vector<char> part(1 << 20);
  while (hash.length() < length) {
    const std::uint64_t wanted = std::min<std::uint64_t>(part.size(), length - hash.length());
    in.read(part.data(), static_cast<std::streamsize>(wanted));
    if (in.gcount() == 0) break;
    hash.add(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  return hash;
}

}  // namespace gradwire::runner
