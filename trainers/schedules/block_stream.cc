#include "trainers/schedules/block_stream.h"

#include <span>

#include "base/serial.h"

namespace gradwire::trainers {

BlockWriter::BlockWriter(std::ostream& out) : out_(out), block_(kBlockBytes) {
  setp(block_.data(), block_.data() + block_.size());
}

void BlockWriter::write_block() {
  const std::span<const char> bytes(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  hasher_.add_bytes(std::as_bytes(bytes));
  put_span(out_, bytes);
  put(out_, hasher_.value());
  setp(block_.data(), block_.data() + block_.size());
}

void BlockWriter::finish() {
  if (pptr() > pbase()) write_block();
  write_block();
}

BlockWriter::int_type BlockWriter::overflow(int_type byte) {
  write_block();
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  return sputc(traits_type::to_char_type(byte));
}

BlockReader::int_type BlockReader::underflow() {
  if (ended_) return traits_type::eof();
  const auto length = get<std::uint64_t>(in_);
  if (length > kBlockBytes) refuse_checkpoint("its check sum is wrong");
  block_.resize(static_cast<std::size_t>(length));
  if (!in_.read(block_.data(), static_cast<std::streamsize>(length)))
    refuse_checkpoint("it ends too early");
  hasher_.add_bytes(std::as_bytes(std::span<const char>(block_)));
  if (get<std::uint64_t>(in_) != hasher_.value()) refuse_checkpoint("its check sum is wrong");
  ended_ = length == 0;
  if (ended_) return traits_type::eof();
  setg(block_.data(), block_.data(), block_.data() + block_.size());
  return traits_type::to_int_type(block_.front());
}

}  // namespace gradwire::trainers
