#include "emulator/cluster/payload_part.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "emulator/hub/frame.h"

namespace gradwire::emulator {
namespace {

using Message = sim::Payloads::Message;

constexpr std::size_t kMostAtOnce = 1 << 20;  // bytes

std::int32_t host_of_rank(const HostView& view, OpIndex op, std::int32_t rank) {
  if (!view.is_collective(op)) return rank == 0 ? view.graph->worker[op] : view.graph->peer[op];
  const sim::CollectiveSpec& spec = view.spec(op);
  return rank < 0 ? spec.server : spec.members[static_cast<std::size_t>(rank)];
}

}  // namespace

PayloadPart part_of(const sim::Payloads& payloads, const HostView& view, int host) {
  std::vector<Message> table(payloads.messages().begin(), payloads.messages().end());
  std::vector<std::byte> bytes;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::uint64_t> copied;  // messages share bytes
  std::vector<Message*> others;
  for (Message& row : table) {
    if (host_of_rank(view, row.op, row.hop.source_rank) != host &&
        host_of_rank(view, row.op, row.hop.destination_rank) != host) {
      others.push_back(&row);
      continue;
    }
    const auto own =
        payloads.bytes().subspan(row.offset, static_cast<std::size_t>(row.hop.bytes.count()));
    const auto [place, is_new] =
        copied.try_emplace({row.offset, row.hop.bytes.count()}, bytes.size());
    if (is_new) bytes.insert(bytes.end(), own.begin(), own.end());
    row.offset = place->second;
  }
  PayloadPart part;
  if (others.size() == table.size()) return part;
  for (Message* row : others) row->offset = bytes.size();
  part.rows = table.size();
  const auto begin = std::as_bytes(std::span(table));
  part.table_and_bytes.assign(begin.begin(), begin.end());
  part.table_and_bytes.insert(part.table_and_bytes.end(), bytes.begin(), bytes.end());
  return part;
}

void send_part(sim::GraphId graph, const PayloadPart& part,
               const std::function<void(nlohmann::json)>& send) {
  std::span<const std::byte> left = part.table_and_bytes;
  while (!left.empty()) {
    const auto piece = left.first(std::min(left.size(), kMostAtOnce));
    left = left.subspan(piece.size());
    send({{"kind", "payloads"},
          {"graph", graph},
          {"rows", part.rows},
          {"left", left.size()},
          {"bytes", to_blob(piece)}});
  }
}

void PayloadIntake::take(const nlohmann::json& piece) {
  const auto bytes = from_blob<std::byte>(piece.at("bytes"));
  so_far_.insert(so_far_.end(), bytes.begin(), bytes.end());
  if (piece.at("left") > 0) return;
  store_.put(piece.at("graph"), piece.at("rows"), std::exchange(so_far_, {}));
}

}  // namespace gradwire::emulator
