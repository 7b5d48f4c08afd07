#pragma once
#include <QCheckBox>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QTimer>
#include <QWidget>

#include "gui/charts/theme.h"
#include "gui/topology/topology_graph.h"

namespace gradwire::gui {

/// Paints a topology at one time: links as wide and as light as they are busy, those that lose
/// packets with a cross. Hovering names a link or a node.
class TopologyMap : public QWidget {
  Q_OBJECT

 public:
  explicit TopologyMap(QWidget* parent = nullptr);

  void set_topology(TopologyPtr topology);
  void set_time(double time_s);
  double time() const { return time_s_; }
  QPointF position_of(int node) const;
  /// What the card says of a link at the time.
  QStringList link_lines(int link) const;
  std::optional<int> link_at(const QPointF& at) const;
  /// For paper: dark on light.
  void paint_for_paper(QPainter& painter, const QSizeF& size) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  QSize minimumSizeHint() const override { return {240, 160}; }

 private:
  std::optional<int> node_at(const QPointF& at) const;
  QPointF place(const TopologyNode& node, const QSizeF& size) const;
  void paint(QPainter& painter, const QSizeF& size, const Theme& theme) const;
  void paint_links(QPainter& painter, const QSizeF& size, const Theme& theme) const;
  void paint_nodes(QPainter& painter, const QSizeF& size, const Theme& theme) const;
  void paint_key(QPainter& painter, const QSizeF& size, const Theme& theme) const;

  TopologyPtr topology_;
  double time_s_ = 0;
  Theme theme_;
  std::optional<int> hovered_link_, hovered_node_;
  QPoint pointer_;
};

/// The map with its time: a slider, play with a speed, and the busiest link in words.
class TopologyView : public QWidget {
  Q_OBJECT

 public:
  explicit TopologyView(QWidget* parent = nullptr);

  void set_topology(TopologyPtr topology);
  void set_time(double time_s);
  /// Null: nothing is drawn.
  const TopologyPtr& topology() const { return topology_; }
  TopologyMap* map() const { return map_; }
  QSlider* slider() const { return slider_; }
  QString note() const { return note_->text(); }
  void toggle_play();
  bool playing() const { return play_timer_.isActive(); }

 signals:
  void time_chosen(double time_s);

 private:
  void build();
  void advance();
  void write_note();

  TopologyPtr topology_;
  TopologyMap* map_;
  QSlider* slider_;
  QPushButton* play_;
  QComboBox* speed_;
  QLabel *time_, *note_;
  QTimer play_timer_;
  QElapsedTimer since_;
};

/// Colour of a utilisation, 0 to 1: cividis, moved until it is told from the background.
QColor load_colour(const Theme& theme, double utilisation);

}  // namespace gradwire::gui
