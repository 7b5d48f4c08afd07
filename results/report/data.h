#pragma once
#include <set>
#include <string>
#include <vector>

#include "results/advice/accuracy_evidence.h"
#include "results/advice/cost.h"
#include "results/pages/html_page.h"
#include "results/runs/dropped_updates.h"
#include "results/runs/gradient_loss.h"
#include "results/runs/summary.h"
#include "results/store/store.h"

/// What a report is made of; shared by the report's files, not an interface.
namespace gradwire::results {

/// Mean and spread over a group's seeds along training.
struct Curve {
  std::vector<double> time_s;           ///< mean virtual time
  std::vector<double> bytes;            ///< mean bytes on the wire so far
  std::vector<double> mean, low, high;  ///< low/high = mean -/+ spread; equal to it for one seed
};

/// Means over all steps and seeds. The first four add up to the mean step time: what fills a step.
struct StepSplit {
  double compute_s = 0;
  double exposed_codec_s = 0;  ///< encoding and decoding beside which nothing is computed
  double exposed_s = 0;        ///< exposed communication (results/runs/exposed.h)
  double idle_s = 0;           ///< the rest: a worker waits, and none of its transfers is under way
  double codec_s = 0;          ///< all encoding and decoding, hidden or not
  double wire_bytes = 0, payload_bytes = 0;
  double retransmissions = 0;
};

struct ReportGroup {
  RunGroup group;
  std::string name;  ///< within its section
  int color = 0;     ///< the same method has the same colour in all figures
  Curve accuracy, loss;
  StepSplit split;
  std::string time_provenance, learning_provenance;
  std::optional<GradientLoss> loss_of_gradients;  ///< mean over seeds; of udp-lossy alone
  AccuracyEvidence evidence;                      ///< against training without compression
  double message_bytes = 0;                       ///< of a worker in a step; 0 = not known
  std::optional<DroppedUpdates> updates;          ///< all seeds'; of federated rounds alone
  std::string choice;           ///< what `exchange.collective: auto` took and why; else empty
  std::set<std::string> notes;  ///< of its runs (results/runs/notes.h)
};

/// Of its first run: what all its runs have but the seed.
inline const RunHeader& header_of(const ReportGroup& group) {
  return group.group.runs.front().header;
}

/// All groups that differ in the method, and the transport, only.
struct Section {
  std::string label;  ///< "bandwidth 100Mbps"; empty where there is one section
  std::vector<std::size_t> groups;
  std::size_t baseline = 0;   ///< index into ReportData::groups: "none", else the first
  bool has_baseline = false;  ///< it is "none", and not in all groups
  /// The number along which sections are ordered, where exactly one pointer with numbers differs.
  std::optional<double> along;
};

struct ReportData {
  std::vector<RunSummary> runs;  ///< as asked for
  std::vector<ReportGroup> groups;
  std::vector<Section> sections;
  std::vector<std::string> section_pointers;
  int loss_window = 1;                 ///< steps in the loss curves' running mean
  std::vector<RunSummary> unfinished;  ///< asked for, and left out
  AccuracyKnowledge accuracy;          ///< what the store's runs and publications say of methods
  CostOptions costs;                   ///< prices that were given; else everything is free
};

ReportData load_report(const Store& store, std::span<const RunId> ids);

/// Whether a method's label says that gradients go as fp32 values.
bool is_uncompressed(const std::string& method);

/// "simulated", "emulated", "predicted" times of a run: from its figures, else from its executor.
std::string time_provenance(const RunHeader& header, std::span<const MetricRow> metrics);

struct Answer {
  std::string question, answer;
};
std::vector<Answer> answers(const ReportData& data, const Section& section);
/// One row a section with the winners; empty where there is one section.
std::vector<std::vector<std::string>> winners_table(const ReportData& data);

/// Figures across sections (empty where there is one section), and of one section.
std::vector<DrawnFigure> overview_figures(const ReportData& data);
std::vector<DrawnFigure> section_figures(const ReportData& data, const Section& section);

/// Sentences that hold for these runs: where times, bytes and learning come from.
std::vector<std::string> assumptions_of(const ReportData& data);

}  // namespace gradwire::results
