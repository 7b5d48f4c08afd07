// What descriptors say of themselves: which schedules repeat, and what a part of one sends.
#include <algorithm>
#include <map>

#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

/// By rank, in the order in which they are sent, all ranks as fast as each other.
std::map<std::int32_t, std::vector<HopTransfer>> sends_of(const CollectiveSpec& spec,
                                                          const std::vector<Bytes>& bytes) {
  const auto generator = make_generator(spec, bytes);
  std::map<std::int32_t, std::vector<HopTransfer>> sends;
  std::vector<HopTransfer> now, next;
  for (std::size_t r = 0; r < spec.members.size(); ++r)
    generator->on_ready(static_cast<int>(r), now);
  while (!now.empty()) {
    next.clear();
    for (const HopTransfer& hop : now) {
      sends[hop.source_rank].push_back(hop);
      generator->on_delivered(hop, next);
    }
    now.swap(next);
  }
  for (std::size_t r = 0; r < spec.members.size(); ++r)
    CHECK(generator->rank_done(static_cast<int>(r)));
  return sends;
}

/// Whether `a` is `b`, sent by a rank that is `rows` further, of `ranks`.
bool is_image(const HopTransfer& a, const HopTransfer& b, int rows, int ranks) {
  const bool same_way = a.destination_rank == (b.destination_rank + rows) % ranks;
  return same_way && a.hop == b.hop && a.contributors == b.contributors && a.reduce == b.reduce &&
         a.bytes == b.bytes;
}

bool are_images(const std::vector<HopTransfer>& a, const std::vector<HopTransfer>& b, int rows,
                int ranks) {
  return std::ranges::equal(a, b, [&](const HopTransfer& x, const HopTransfer& y) {
    return is_image(x, y, rows, ranks);
  });
}

struct Case {
  CollectiveSpec spec;
  std::vector<Bytes> bytes;
  int rows = 1;
  bool repeats = true;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto kind : {CollectiveKind::kRingAllReduce, CollectiveKind::kRingReduceScatter}) {
    for (const auto& [elements, rows, repeats] : {std::tuple(240, 1, true),
                                                  {248, 3, true},
                                                  {248, 1, false},
                                                  {248, 2, false},
                                                  {241, 1, false},
                                                  {0, 1, true}}) {
      Case each{ring_spec(kind, 24, elements), {}, rows, repeats};
      each.spec.width_bits = {8, 8, 16, 16, 32};
      all.push_back(each);
    }
  }
  std::vector<Bytes> sizes(24, Bytes(1000));
  all.push_back({ring_spec(CollectiveKind::kRingAllGather, 24, 0), sizes, 1, true});
  for (std::size_t r = 2; r < sizes.size(); r += 6) sizes[r] = Bytes(77);
  all.push_back({ring_spec(CollectiveKind::kRingAllGather, 24, 0), sizes, 6, true});
  all.push_back({ring_spec(CollectiveKind::kRingAllGather, 24, 0), sizes, 3, false});
  for (const auto& [elements, rows, repeats] : {std::tuple(600, 4, true),
                                                {600, 8, true},
                                                {600, 2, false},
                                                {603, 4, false},
                                                {603, 8, true}}) {
    Case each{ring_spec(CollectiveKind::kTwoLevelAllReduce, 24, elements), {}, rows, repeats};
    each.spec.group = 4;
    each.spec.width_bits = {8, 8, 8, 8, 16, 16, 32};
    all.push_back(each);
  }
  return all;
}

}  // namespace

TEST_CASE("a schedule that repeats is the same some ranks further, and others are not") {
  for (const Case& each : cases()) {
    CAPTURE(name_of(each.spec.kind), each.spec.elements, each.rows);
    CHECK(each.spec.kind->repeats(each.spec, each.bytes, each.rows) == each.repeats);
    const auto sends = sends_of(each.spec, each.bytes);
    const auto ranks = static_cast<int>(each.spec.members.size());
    bool alike = true;
    for (int r = 0; r < ranks; ++r)
      alike = alike && are_images(sends.at((r + each.rows) % ranks), sends.at(r), each.rows, ranks);
    CHECK(alike == each.repeats);
  }
}

TEST_CASE("a part of a collective sends what its ranks do in the whole") {
  for (const Case& each : cases()) {
    if (!each.repeats) continue;
    CAPTURE(name_of(each.spec.kind), each.spec.elements, each.rows);
    CollectiveSpec part = each.spec;
    const int kept = 2 * each.rows;
    part.part_of = static_cast<std::int32_t>(part.members.size());
    part.members.resize(static_cast<std::size_t>(kept));
    std::vector<Bytes> bytes = each.bytes;
    if (!bytes.empty()) bytes.resize(static_cast<std::size_t>(kept));
    const auto whole = sends_of(each.spec, each.bytes), some = sends_of(part, bytes);
    CHECK(static_cast<int>(some.size()) == kept);
    for (const auto& [rank, list] : some) {
      const bool same =
          std::ranges::equal(list, whole.at(rank), [&](const HopTransfer& x, const HopTransfer& y) {
            HopTransfer turned = y;
            turned.destination_rank %= kept;
            return is_image(x, turned, 0, kept) &&
                   hop_range(part, x).count == hop_range(each.spec, y).count;
          });
      CHECK(same);
    }
  }
}
