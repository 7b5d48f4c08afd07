#pragma once
#include "results/prediction/step_model.h"

namespace gradwire::results {

/// A step of equal workers, who stand for each other: when its buckets are there, coded, exchanged
/// and decoded. `slow`: the slowest worker's passes over one worker's; of it StepSummary::slowest
/// goes for coding and the update, too.
///
/// A bucket goes through: code, exchange, code again, exchange, decode.
///
/// | exchange | first | then | again | then |
/// |---|---|---|---|---|
/// | of sums whose scales are agreed on | scale_s | prelude | encode_s - scale_s | X |
/// | scatter-reduce | (n - 1) / n encode_s | chunks to owners | encode_s / n + additions | sums |
/// | others | encode_s | | | X |
///
/// Coding takes a worker's one lane in the order in which it can begin; the exchanges of all
/// buckets follow one another, a bucket's own without another between them.
StepTime step_timeline(const StepSummary& step, const StepConstants& constants, double slow);

}  // namespace gradwire::results
