#include "gui/timeline/timeline_search.h"

#include <QStringList>
#include <algorithm>
#include <array>
#include <optional>

namespace gradwire::gui {

using results::TimelineSegment;

namespace {

struct Wanted {
  std::optional<std::int32_t> worker;
  std::optional<std::int64_t> step;
  QStringList words;
};

Wanted read_words(const QString& text, int workers) {
  const QStringList words = text.toLower().split(' ', Qt::SkipEmptyParts);
  Wanted wanted;
  for (int i = 0; i < words.size(); ++i) {
    bool number = false;
    const long long value = i + 1 < words.size() ? words[i + 1].toLongLong(&number) : 0;
    if (number && words[i] == "step") {
      wanted.step = value;
    } else if (number && words[i] == "worker") {
      wanted.worker = static_cast<std::int32_t>(value);
    } else if (number && words[i] == "server") {
      wanted.worker = static_cast<std::int32_t>(value) + workers;
    } else {
      wanted.words << words[i];
      continue;
    }
    ++i;
  }
  return wanted;
}

bool has_all(const QString& text, const QStringList& words) {
  return std::ranges::all_of(words, [&](const QString& word) { return text.contains(word); });
}

/// [labels][phases x lane groups] whether such a segment has all words; made as they occur.
class LabelMatches {
 public:
  LabelMatches(const RunTimeline& timeline, QStringList words)
      : timeline_(timeline), words_(std::move(words)), known_(timeline.labels.size()) {}

  bool of(std::uint32_t segment) {
    const TimelineSegment& each = timeline_.segments[segment];
    const LaneGroup group = group_of(each.lane);
    signed char& known = known_[timeline_.label_of[segment]][static_cast<std::size_t>(group)];
    if (known == 0) {
      const QString text = QString("%1\n%2\n%3")
                               .arg(QString::fromStdString(each.label).toLower(), name_of(group),
                                    name_of(phase_of(each)));
      known = has_all(text, words_) ? 1 : -1;
    }
    return known > 0;
  }

 private:
  const RunTimeline& timeline_;
  QStringList words_;
  std::vector<std::array<signed char, 5>> known_;
};

}  // namespace

TimelineSearch::TimelineSearch(const RunTimeline& timeline, const QString& words) {
  const Wanted wanted = read_words(words, timeline.workers);
  if (!wanted.worker && !wanted.step && wanted.words.isEmpty()) return;
  LabelMatches labels(timeline, wanted.words);
  for (std::uint32_t i = 0; i < timeline.segments.size(); ++i) {
    const TimelineSegment& segment = timeline.segments[i];
    if (wanted.worker && segment.worker != *wanted.worker) continue;
    if (wanted.step && segment.step != *wanted.step) continue;
    if (labels.of(i)) found_.push_back(i);
  }
  std::ranges::stable_sort(found_, {}, [&](auto i) { return timeline.segments[i].start_s; });
}

std::vector<std::size_t> links_found(const RunTimeline& timeline, const QString& words) {
  std::vector<std::size_t> found;
  const QStringList wanted = words.toLower().split(' ', Qt::SkipEmptyParts);
  for (std::size_t i = 0; !wanted.isEmpty() && i < timeline.links.size(); ++i) {
    const QString name = "link " + QString::fromStdString(timeline.links[i].name).toLower();
    if (has_all(name, wanted)) found.push_back(i);
  }
  return found;
}

RowMarks::RowMarks(const TimelineRows& rows, std::size_t segments,
                   const std::vector<std::uint32_t>& marked) {
  if (marked.empty()) return;
  std::vector<bool> is_marked(segments);
  for (const std::uint32_t i : marked) is_marked[i] = true;
  positions_.resize(rows.rows.size());
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    const auto& list = rows.rows[row].segments;
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if (is_marked[list[i]]) positions_[row].push_back(i);
    }
  }
}

bool RowMarks::any(std::size_t row, std::uint32_t first, std::uint32_t last) const {
  if (row >= positions_.size()) return false;
  const auto it = std::ranges::lower_bound(positions_[row], first);
  return it != positions_[row].end() && *it <= last;
}

}  // namespace gradwire::gui
