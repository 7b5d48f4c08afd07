#pragma once
#include <string>
#include <vector>

#include "results/prediction/constant.h"
#include "results/reproductions/terngrad_chart/chart.h"

/// Closed forms for a scalability chart, and their constants by robust least squares on log time.
///
/// A step on n GPUs, g a node, i = ceil(n / g) nodes, j = min(n, g) GPUs in each, b bytes of
/// gradients a GPU (|g| in fp32, |g| / r with a method whose credited ratio is r) takes
///
///     T = T1 + W(j) + E(i),  W(1) = E(1) = 0
///
///     terngrad-tree      W = (|g| / C) log2(j)         E = (L + b / B) log2(i)
///     terngrad-plateau   W = (b / C) 2 (j - 1) / j     E = L (i - 1) + min(log2(i), 2) b / B
///     fitted             W = (b / C) 2 (j - 1) / j     E = L_m (i - 1) + min(log2(i), p) (b / B)
///     (i / 2)^c
///
/// T1: a GPU alone; C: inside a node; B: effective between nodes; L: latency of a hop (tree: of a
/// doubling of the nodes); p: factor at which a ring's 2 (i - 1) / i is taken to level off; c:
/// congestion exponent; L_m: a model's latency of a hop, within a factor of L. Throughput is n K /
/// T at K samples a GPU. The tree is W. Wen et al., arXiv 1705.07878, section 5, as it is
/// remembered; the authors' own chart levels off at four nodes, which a tree cannot. What sends
/// each byte at most twice, up and down a chain of nodes, has that ceiling and waits for each of
/// the i - 1 hops; inside a node, too, a ring sends messages in the form in which they cross the
/// network.
///
/// Limits. No overlap of communication with the backward pass and no encoding appear: what hides
/// or adds to them ends up in B and r. Without batch and gradient bytes the constants fit only up
/// to a factor (time and bytes are known per sample alone); throughput does not depend on it.
namespace gradwire::results {

enum class ChartModel { kTernGradTree, kTernGradPlateau, kFitted };
inline constexpr ChartModel kChartModels[] = {ChartModel::kTernGradTree,
                                              ChartModel::kTernGradPlateau, ChartModel::kFitted};
std::string_view name_of(ChartModel model);

struct ChartOptions {
  int gpus_per_node = 4;
  double bandwidth = 1e9;     ///< nominal between nodes, bits/s
  double coarse_below = 200;  ///< images/s: bars below are read too coarsely to be judged
};

struct ChartFit {
  ChartModel model{};
  std::vector<Constant> constants;
  std::vector<double> predicted;  ///< [bars] images/s
  double median_error = 0;        ///< of |predicted / published - 1|, all bars
  double worst_error = 0;         ///< of the bars that are judged
  std::size_t worst_bar = 0;
  double scale = 0;  ///< robust deviation of log time
};

/// Throws Error where the chart does not determine the model.
ChartFit fit_chart(const Chart& chart, ChartModel model, const ChartOptions& options);

/// A model's errors on bars that its constants have not seen.
struct ChartHalves {
  int draws = 0;
  double median_error = 0;  ///< of all draws' bars
  double worst_error = 0;   ///< of the bars that are judged, over all draws
  std::size_t worst_bar = 0;
};

/// `draws` times: constants from half of each series' bars (a model and method), drawn by the
/// number of the draw, and errors on the others.
ChartHalves judge_halves_of_chart(const Chart& chart, ChartModel model, const ChartOptions& options,
                                  int draws);

/// Bars that are published under `coarse_below`.
std::vector<std::size_t> coarse_bars(const Chart& chart, const ChartOptions& options);

}  // namespace gradwire::results
