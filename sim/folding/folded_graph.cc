#include "sim/folding/folded_graph.h"

#include <algorithm>
#include <compare>

namespace gradwire::sim {
namespace {

/// One of what is to be there for every column.
struct Member {
  std::uint64_t what = 0;
  std::int32_t column = 0;
  bool operator==(const Member&) const = default;
  auto operator<=>(const Member&) const = default;
};

bool are_even(std::vector<Member>& members, std::int32_t columns) {
  if (members.size() % static_cast<std::size_t>(columns) != 0) return false;
  std::ranges::sort(members);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::size_t column = i % static_cast<std::size_t>(columns);
    if (members[i].column != static_cast<std::int32_t>(column)) return false;
    if (column > 0 && members[i].what != members[i - 1].what) return false;
  }
  return true;
}

std::uint64_t key_of(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint64_t>(a) << 32 | b;
}

/// Of so many columns that are alike.
std::int64_t of_all(std::int64_t of_kept, std::int32_t columns) {
  return of_kept / kKeptColumns * columns;
}

}  // namespace

std::shared_ptr<const FoldedGraph> FoldedGraph::fold(const GraphPtr& whole,
                                                     const Columns& columns) {
  std::shared_ptr<FoldedGraph> folded(new FoldedGraph(whole, columns));
  if (!folded->place_operations()) return nullptr;
  for (OpIndex op = 0; op < whole->size(); ++op) {
    const bool alike = whole->is_collective(op) ? folded->is_symmetric(op) : folded->is_image(op);
    if (!alike) return nullptr;
  }
  folded->build();
  return folded;
}

bool FoldedGraph::place_operations() {
  std::vector<std::int32_t> rank_of(static_cast<std::size_t>(whole_->hosts), -1);
  for (std::int32_t r = 0; r < columns_.ranks(); ++r) {
    const auto host = static_cast<std::size_t>(columns_.hosts[static_cast<std::size_t>(r)]);
    if (host < rank_of.size()) rank_of[host] = r;
  }
  places_.resize(whole_->size());
  operations_.resize(columns_.hosts.size());
  for (OpIndex op = 0; op < whole_->size(); ++op) {
    if (whole_->is_collective(op)) continue;
    if (whole_->kind[op] == OpKind::kTransfer) return false;
    const std::int32_t rank = rank_of[static_cast<std::size_t>(whole_->worker[op])];
    if (rank < 0) return false;
    std::vector<OpIndex>& list = operations_[static_cast<std::size_t>(rank)];
    places_[op] = {rank, static_cast<std::int32_t>(list.size())};
    list.push_back(op);
  }
  const auto rows = static_cast<std::size_t>(columns_.rows);
  for (std::size_t r = rows; r < operations_.size(); ++r)
    if (operations_[r].size() != operations_[r % rows].size()) return false;
  return true;
}

OpIndex FoldedGraph::first_image(OpIndex op) const {
  const Place& at = place(op);
  const auto row = static_cast<std::size_t>(at.rank % columns_.rows);
  return operations_[row][static_cast<std::size_t>(at.number)];
}

/// Of the operation of column 0.
bool FoldedGraph::is_image(OpIndex op) const {
  const GraphTemplate& graph = *whole_;
  const OpIndex first = first_image(op);
  const auto after = graph.dependencies(op), first_after = graph.dependencies(first);
  if (graph.kind[op] != graph.kind[first] || graph.lane[op] != graph.lane[first] ||
      graph.label[op] != graph.label[first] || after.size() != first_after.size())
    return false;
  const std::int32_t column = place(op).rank / columns_.rows;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (graph.is_collective(after[i])) {
      if (after[i] != first_after[i]) return false;
    } else if (place(after[i]).rank / columns_.rows != column ||
               first_image(after[i]) != first_after[i]) {
      return false;
    }
  }
  return true;
}

bool FoldedGraph::is_symmetric(OpIndex collective) const {
  const CollectiveSpec& spec =
      whole_->collectives[static_cast<std::size_t>(whole_->peer[collective])];
  return spec.kind->repeats != nullptr && spec.part_of == 0 && spec.members == columns_.hosts &&
         waits_evenly(collective);
}

bool FoldedGraph::waits_evenly(OpIndex collective) const {
  std::vector<Member> members;
  for (const OpIndex from : whole_->dependencies(collective))
    if (!whole_->is_collective(from))
      members.push_back({first_image(from), place(from).rank / columns_.rows});
  return are_even(members, columns_.count());
}

void FoldedGraph::build() {
  GraphBuilder builder;
  std::vector<OpIndex> after;
  const std::int32_t kept = kKeptColumns * columns_.rows;
  folded_op_.resize(whole_->size());
  for (OpIndex op = 0; op < whole_->size(); ++op) {
    const std::int32_t rank = place(op).rank;
    if (rank >= kept) continue;
    after.clear();
    for (const OpIndex from : whole_->dependencies(op))
      if (place(from).rank < kept) after.push_back(folded_op_[from]);
    const std::string& label = whole_->labels[whole_->label[op]];
    folded_op_[op] = static_cast<OpIndex>(kept_.size());
    kept_.push_back(op);
    if (rank >= 0) {
      builder.add_operation(whole_->kind[op], whole_->lane[op], rank, label, after);
      continue;
    }
    CollectiveSpec spec = whole_->collectives[static_cast<std::size_t>(whole_->peer[op])];
    spec.part_of = columns_.ranks();
    spec.members.resize(static_cast<std::size_t>(kept));
    for (std::int32_t r = 0; r < kept; ++r) spec.members[static_cast<std::size_t>(r)] = r;
    builder.add_collective(std::move(spec), label, after);
  }
  folded_ = builder.finish();
  for (OpIndex op = 0; op < whole_->size(); ++op) {
    if (place(op).rank < kept) continue;
    const auto rank = static_cast<std::size_t>(kept_rank(place(op).rank, columns_.rows));
    folded_op_[op] = folded_op_[operations_[rank][static_cast<std::size_t>(place(op).number)]];
  }
}

bool FoldedGraph::fold_values(const Submission& submission, std::vector<Bytes>& bytes,
                              std::vector<Seconds>& seconds) const {
  for (OpIndex op = 0; op < whole_->size(); ++op)
    if (!whole_->is_collective(op) && submission.seconds[op] != submission.seconds[first_image(op)])
      return false;
  for (const OpIndex op : kept_) {
    seconds.push_back(submission.seconds[op]);
    if (!whole_->is_collective(op)) continue;
    const CollectiveSpec& spec = whole_->collectives[static_cast<std::size_t>(whole_->peer[op])];
    const std::span<const Bytes> own = submission.bytes.subspan(
        whole_->bytes_begin[op], whole_->bytes_begin[op + 1] - whole_->bytes_begin[op]);
    if (!spec.kind->repeats(spec, own, columns_.rows)) return false;
    const auto kept = static_cast<std::size_t>(kKeptColumns * columns_.rows);
    const std::span<const Bytes> some = own.first(std::min(own.size(), kept));
    bytes.insert(bytes.end(), some.begin(), some.end());
  }
  return true;
}

bool FoldedGraph::fold_edges(const FoldedGraph& from, const FoldedGraph& to,
                             std::span<const CrossEdge> edges, std::vector<CrossEdge>& folded) {
  std::vector<Member> members;
  const std::int32_t rows = to.columns_.rows, kept = kKeptColumns * rows;
  for (const CrossEdge& edge : edges) {
    const std::int32_t first = from.place(edge.from.op).rank, second = to.place(edge.to).rank;
    if (first < kept && second < kept)
      folded.push_back({{edge.from.graph, from.folded_op_[edge.from.op]}, to.folded_op_[edge.to]});
    if (first < 0 && second < 0) continue;
    if (first >= 0 && second >= 0 && first / rows != second / rows) return false;
    const OpIndex a = first < 0 ? edge.from.op : from.first_image(edge.from.op);
    const OpIndex b = second < 0 ? edge.to : to.first_image(edge.to);
    members.push_back({key_of(a, b), std::max(first, second) / rows});
  }
  return are_even(members, to.columns_.count());
}

void FoldedGraph::expand(const Timeline& folded, Timeline& whole) const {
  whole.graph = folded.graph;
  whole.start = folded.start;
  whole.end = folded.end;
  whole.ops.resize(whole_->size());
  whole.rank_done.resize(whole_->collectives.size());
  for (OpIndex op = 0; op < whole_->size(); ++op) {
    OpRecord& record = whole.ops[op];
    record = folded.ops[folded_op_[op]];
    if (!whole_->is_collective(op)) continue;
    const std::int32_t columns = columns_.count();
    record.payload = Bytes(of_all(record.payload.count(), columns));
    record.wire = Bytes(of_all(record.wire.count(), columns));
    record.transfers = of_all(record.transfers, columns);
    record.retransmissions = of_all(record.retransmissions, columns);
    const auto& done = folded.rank_done[static_cast<std::size_t>(folded_->peer[folded_op_[op]])];
    auto& all = whole.rank_done[static_cast<std::size_t>(whole_->peer[op])];
    all.resize(columns_.hosts.size());
    for (std::size_t r = 0; r < all.size(); ++r) all[r] = done[r % done.size()];
  }
}

std::int32_t FoldedGraph::column_of(OpIndex folded_op) const {
  return folded_->is_collective(folded_op) ? -1 : folded_->worker[folded_op] / columns_.rows;
}

std::uint32_t FoldedGraph::orbit_of(OpIndex folded_op) const {
  const OpIndex op = kept_[folded_op];
  return folded_->is_collective(folded_op) ? op : first_image(op);
}

std::vector<OpIndex> FoldedGraph::images_of(OpIndex folded_op) const {
  const OpIndex op = kept_[folded_op];
  if (folded_->is_collective(folded_op)) return {op};
  std::vector<OpIndex> images;
  for (std::int32_t rank = place(op).rank % columns_.rows; rank < columns_.ranks();
       rank += columns_.rows)
    images.push_back(
        operations_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(place(op).number)]);
  return images;
}

}  // namespace gradwire::sim
