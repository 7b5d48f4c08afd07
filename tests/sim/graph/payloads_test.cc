#include "sim/graph/payloads.h"

#include <catch2/catch.hpp>
#include <cstring>

namespace gradwire::sim {
namespace {

HopTransfer hop_of(int from, int to, int hop, std::size_t bytes) {
  HopTransfer transfer;
  transfer.source_rank = from;
  transfer.destination_rank = to;
  transfer.hop = hop;
  transfer.bytes = Bytes(static_cast<std::int64_t>(bytes));
  return transfer;
}

std::string text_of(const Payloads& payloads, std::size_t message) {
  const Payloads::Message& row = payloads.messages()[message];
  const auto bytes =
      payloads.bytes().subspan(row.offset, static_cast<std::size_t>(row.hop.bytes.count()));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_CASE("payloads: what is passed on is stored once, a buffer used again is not mistaken",
          "[unit]") {
  char buffer[] = "first";
  const std::span<const std::byte> bytes = std::as_bytes(std::span(buffer, 5));
  Payloads payloads;
  payloads.add(3, hop_of(0, 1, 0, 5), bytes);
  payloads.add(3, hop_of(1, 2, 1, 5), bytes);  // on its way round a ring
  CHECK(payloads.bytes().size() == 5);
  std::memcpy(buffer, "other", 5);
  payloads.add(3, hop_of(0, 1, 2, 5), bytes);
  payloads.add(3, hop_of(1, 2, 3, 3), bytes.first(3));  // the same place, fewer of them
  payloads.add(4, hop_of(0, 1, 0, 5), bytes);
  payloads.add(5, bytes.first(0));
  CHECK(payloads.messages().size() == 6);
  CHECK(text_of(payloads, 0) == "first");
  CHECK(text_of(payloads, 1) == "first");
  CHECK(text_of(payloads, 2) == "other");
  CHECK(text_of(payloads, 3) == "oth");
  CHECK(text_of(payloads, 4) == "other");
  CHECK(text_of(payloads, 5).empty());
  CHECK(payloads.messages()[5].hop.destination_rank == 1);  // as the interpreter has a transfer
  CHECK(payloads.bytes().size() == 5 + 5 + 5);
}

}  // namespace
}  // namespace gradwire::sim
