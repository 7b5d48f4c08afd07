#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "gui/models/columns.h"
#include "gui/topology/topology_view.h"

namespace gradwire::gui {
namespace {

constexpr double kMargin = 28, kKeyHeight = 34;
constexpr double kReach = 6;  ///< pixels within which a link or node is hit
constexpr double kThinnest = 1, kWidest = 7;
/// Names of more nodes would hide each other.
constexpr std::size_t kMostNames = 40;

double distance_to_line(const QPointF& at, const QPointF& a, const QPointF& b) {
  const QPointF along = b - a;
  const double length = QPointF::dotProduct(along, along);
  const double share =
      length > 0 ? std::clamp(QPointF::dotProduct(at - a, along) / length, 0.0, 1.0) : 0;
  const QPointF away = at - (a + share * along);
  return std::hypot(away.x(), away.y());
}

QString share_text(double share) {
  return share < 0 ? QString("not stored") : quantity_text(share, Quantity::kShare, {});
}

QString rate_text(double bits_per_second) {
  return quantity_text(bits_per_second, Quantity::kRate, {});
}

}  // namespace

QColor load_colour(const Theme& theme, double utilisation) {
  // Five stops of cividis (Nunez, Anderton, Renslow 2018): dark blue to yellow, even in grey.
  static constexpr std::array<std::array<int, 3>, 5> kStops = {
      {{0, 34, 78}, {65, 77, 107}, {124, 123, 120}, {187, 173, 109}, {254, 232, 56}}};
  // On dark the busy end is the light one, on light the dark one.
  const double share = std::clamp(theme.dark ? utilisation : 1 - utilisation, 0.0, 1.0) * 4;
  const auto stop = std::min<std::size_t>(static_cast<std::size_t>(share), 3);
  const double between = share - static_cast<double>(stop);
  const auto mixed = [&](std::size_t channel) {
    return static_cast<int>(
        std::lround(kStops[stop][channel] * (1 - between) + kStops[stop + 1][channel] * between));
  };
  return with_contrast(QColor(mixed(0), mixed(1), mixed(2)), theme.background, 3);
}

TopologyMap::TopologyMap(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  theme_ = theme_of(palette());
  setAccessibleName("Map of the network");
  setAccessibleDescription("Hosts, switches and how busy their links are at the chosen time");
}

void TopologyMap::set_topology(TopologyPtr topology) {
  topology_ = std::move(topology);
  hovered_link_.reset();
  hovered_node_.reset();
  update();
}

void TopologyMap::set_time(double time_s) {
  time_s_ = time_s;
  update();
}

QPointF TopologyMap::place(const TopologyNode& node, const QSizeF& size) const {
  return {kMargin + node.x * (size.width() - 2 * kMargin),
          kMargin + node.y * (size.height() - 2 * kMargin - kKeyHeight)};
}

QPointF TopologyMap::position_of(int node) const {
  return place(topology_->nodes[static_cast<std::size_t>(node)], size());
}

std::optional<int> TopologyMap::node_at(const QPointF& at) const {
  std::optional<int> found;
  double reach = kReach;
  for (std::size_t i = 0; topology_ && i < topology_->nodes.size(); ++i) {
    const QPointF away = place(topology_->nodes[i], size()) - at;
    const double far = std::hypot(away.x(), away.y());
    if (far > reach) continue;
    found = static_cast<int>(i);
    reach = far;
  }
  return found;
}

std::optional<int> TopologyMap::link_at(const QPointF& at) const {
  std::optional<int> found;
  double reach = kReach;
  for (std::size_t i = 0; topology_ && i < topology_->links.size(); ++i) {
    const TopologyLink& link = topology_->links[i];
    const double far = distance_to_line(at, position_of(link.a), position_of(link.b));
    if (far > reach) continue;
    found = static_cast<int>(i);
    reach = far;
  }
  return found;
}

void TopologyMap::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->pos();
  hovered_node_ = node_at(event->position());
  hovered_link_ = hovered_node_ ? std::nullopt : link_at(event->position());
  update();
}

void TopologyMap::leaveEvent(QEvent*) {
  hovered_node_.reset();
  hovered_link_.reset();
  update();
}

void TopologyMap::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  theme_ = theme_of(palette());
  update();
}

QStringList TopologyMap::link_lines(int number) const {
  const TopologyLink& link = topology_->links[static_cast<std::size_t>(number)];
  const auto name = [&](int node) {
    return QString::fromStdString(topology_->nodes[static_cast<std::size_t>(node)].name);
  };
  QStringList lines{QStringLiteral("%1 – %2").arg(name(link.a), name(link.b))};
  lines << (link.count > 1 ? QString("%1 links of %2").arg(link.count).arg(rate_text(link.rate_bps))
                           : rate_text(link.rate_bps));
  const auto line = [&](const std::vector<int>& which, int from, int to) {
    TopologyLink one = link;
    one.there = which;
    one.back.clear();
    lines
        << QString("to %1: %2").arg(name(to), share_text(utilisation_at(*topology_, one, time_s_)));
    Q_UNUSED(from);
  };
  line(link.there, link.a, link.b);
  line(link.back, link.b, link.a);
  if (link.loss > 0) lines << "loses " + quantity_text(link.loss, Quantity::kRatio, {});
  return lines;
}

void TopologyMap::paint_links(QPainter& painter, const QSizeF& size, const Theme& theme) const {
  const auto at = [&](int node) {
    return place(topology_->nodes[static_cast<std::size_t>(node)], size);
  };
  for (std::size_t i = 0; i < topology_->links.size(); ++i) {
    const TopologyLink& link = topology_->links[i];
    const double load = utilisation_at(*topology_, link, time_s_);
    QPen pen(load < 0 ? theme.axis : load_colour(theme, load),
             kThinnest + std::clamp(load, 0.0, 1.0) * (kWidest - kThinnest));
    if (load < 0) pen.setStyle(Qt::DotLine);
    painter.setPen(pen);
    painter.drawLine(at(link.a), at(link.b));
    if (link.loss <= 0) continue;
    const QPointF middle = (at(link.a) + at(link.b)) / 2;
    painter.setPen(QPen(theme.ink, 1.5));
    painter.drawLine(middle + QPointF(-3, -3), middle + QPointF(3, 3));
    painter.drawLine(middle + QPointF(-3, 3), middle + QPointF(3, -3));
  }
}

void TopologyMap::paint_nodes(QPainter& painter, const QSizeF& size, const Theme& theme) const {
  const auto nodes = static_cast<double>(topology_->nodes.size());
  const double half = std::clamp(size.width() / (2.5 * nodes), 2.0, 7.0);
  painter.setPen(QPen(theme.background, 1));
  painter.setBrush(theme.ink);
  for (const TopologyNode& node : topology_->nodes) {
    const QPointF at = place(node, size);
    if (node.host) {
      painter.drawEllipse(at, half, half);
    } else {
      painter.drawRect(QRectF(at - QPointF(half, half), QSizeF(2 * half, 2 * half)));
    }
  }
  if (topology_->nodes.size() > kMostNames) return;
  painter.setPen(theme.ink);
  const QFontMetricsF metrics(painter.font());
  for (const TopologyNode& node : topology_->nodes) {
    const QString name = QString::fromStdString(node.name);
    const QPointF at = place(node, size);
    const double left = at.x() - metrics.horizontalAdvance(name) / 2;
    painter.drawText(
        QPointF(std::max(left, 2.0), at.y() + (node.host ? half + metrics.height() : -half - 4)),
        name);
  }
}

void TopologyMap::paint_key(QPainter& painter, const QSizeF& size, const Theme& theme) const {
  const QFontMetricsF metrics(painter.font());
  double x = kMargin;
  const double y = size.height() - kKeyHeight / 2;
  painter.setPen(theme.ink);
  const auto text = [&](const QString& words) {
    painter.setPen(theme.ink);
    painter.drawText(QPointF(x, y + metrics.ascent() / 2), words);
    x += metrics.horizontalAdvance(words) + 8;
  };
  text("utilisation");
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    painter.setPen(QPen(load_colour(theme, share), kThinnest + share * (kWidest - kThinnest)));
    painter.drawLine(QPointF(x, y), QPointF(x + 26, y));
    x += 30;
    text(QString("%1 %").arg(share * 100));
  }
  painter.setPen(QPen(theme.axis, kThinnest, Qt::DotLine));
  painter.drawLine(QPointF(x, y), QPointF(x + 26, y));
  x += 30;
  text(QStringLiteral("not stored    × loses packets"));
}

void TopologyMap::paint(QPainter& painter, const QSizeF& size, const Theme& theme) const {
  painter.fillRect(QRectF(QPointF(), size), theme.background);
  painter.setRenderHint(QPainter::Antialiasing, !topology_ || topology_->links.size() <= 1000);
  if (!topology_ || topology_->nodes.empty()) {
    painter.setPen(theme.faint_ink);
    painter.drawText(QRectF(QPointF(), size), Qt::AlignCenter, "Select a run to see its network.");
    return;
  }
  paint_links(painter, size, theme);
  paint_nodes(painter, size, theme);
  paint_key(painter, size, theme);
}

void TopologyMap::paint_for_paper(QPainter& painter, const QSizeF& size) const {
  QPalette paper;
  for (auto role : {QPalette::Base, QPalette::Window}) paper.setColor(role, Qt::white);
  for (auto role : {QPalette::Text, QPalette::WindowText}) paper.setColor(role, Qt::black);
  paint(painter, size, theme_of(paper));
}

void TopologyMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, size(), theme_);
  QStringList lines;
  if (hovered_node_) {
    lines << QString::fromStdString(
        topology_->nodes[static_cast<std::size_t>(*hovered_node_)].name);
  } else if (hovered_link_) {
    lines = link_lines(*hovered_link_);
  }
  if (!lines.isEmpty()) paint_card(painter, theme_, rect(), pointer_, lines);
}

}  // namespace gradwire::gui
