#pragma once
#include <string>

#include "bench/measured/table.h"

namespace gradwire::bench {

/// How far steps are from predictions where more than their own source is left out of what gives
/// the constants: all of a device, all convolutional networks, all transformers, all of fp32, all
/// of lower precisions, and everything (the priors alone). A Markdown table, a line a source:
/// median of the errors' absolute values, median and worst error, in %.
std::string hold_out_table(const MeasuredTables& tables);

}  // namespace gradwire::bench
