#pragma once
#include "bench/measured/step_work.h"

namespace gradwire::bench {

/// The work of a transformer by its shape (transformer_shape.h), of one of the step's workers.
///
/// With tensor parallelism a worker has its share of the heads, of the inner width and of the
/// vocabulary; normalisations, dropout and sums of the hidden width are whole on each worker but
/// in gated ones, whose programs share the sequence out. With pipeline parallelism a worker has its
/// share of the layers; the head, on the last stage, stands apart. Precondition: the shape is
/// whole.
StepWork transformer_work(const MeasuredStep& step);

}  // namespace gradwire::bench
