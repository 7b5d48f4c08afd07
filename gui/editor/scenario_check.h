#pragma once
#include <QString>
#include <QStringList>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/run_set.h"

/// What is to be said of a scenario's text while it is typed. Reading it may take a tenth of a
/// second for a large sweep: not for the window's thread.
namespace gradwire::gui {

struct ScenarioProblem {
  int line = 0;    ///< from 1; 0 = unknown
  int column = 0;  ///< from 1; 0 = unknown
  QString pointer;
  QString message;     ///< why it is refused
  QString allowed;     ///< values or keys
  QString suggestion;  ///< nearest key or value

  /// One line, as `gradwire validate` prints it, without the file.
  QString text() const;
};

struct ScenarioVerdict {
  std::vector<ScenarioProblem> problems;
  QStringList warnings;
  std::size_t runs = 0;    ///< that the file expands to, where it has no problem
  std::size_t stored = 0;  ///< of them, that ended in the database
  double seconds = -1;     ///< that the others take, roughly; < 0: nothing is known
  QString basis;           ///< what `seconds` rests on

  bool valid() const { return problems.empty(); }
  /// "48 runs, 12 stored, about 3 min" or "2 problems".
  QString in_short() const;
};

/// `path`: what relative paths are seen from. `runs`: of the database.
ScenarioVerdict check_scenario(const std::string& text, const std::string& path,
                               std::span<const results::RunSummary> runs);

/// Where in the text a problem stands: offset and length of the key (or the place of a syntax
/// error); length 0 at the line's start where the key is not found.
std::pair<int, int> place_of(const QString& text, const ScenarioProblem& problem);

/// Fields in which two texts differ: "/network/link/bandwidth: 1Gbps → 10Gbps"; empty where one is
/// no JSON.
QStringList differing_fields(const std::string& before, const std::string& after);

}  // namespace gradwire::gui
