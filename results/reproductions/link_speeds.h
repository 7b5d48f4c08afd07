#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "results/reproductions/reproduction.h"

/// A published step time by the bandwidth of the link, without overlap.
///
/// Model. A step that computes c seconds and puts S bits on a link of bandwidth B takes c + S / B:
/// two rows with the same messages give c and S, which predict any other bandwidth, and a method
/// that sends a share of those bits.
///
/// Limits. What hides behind the backward pass is in S as if it were not sent, and what a codec
/// computes is not there at all.
namespace gradwire::results {

struct LinkStep {
  Seconds compute{0};
  double bits = 0;  ///< a step puts on the link
  Seconds time(BitsPerSecond bandwidth, double share = 1) const {
    return compute + Seconds(share * bits / bandwidth.value());
  }
};

/// From a step's times at two different bandwidths.
LinkStep link_step_of(BitsPerSecond fast, Seconds with_fast, BitsPerSecond slow, Seconds with_slow);

/// DGC beside dense exchanges on two GPUs at three bandwidths (scenarios/published/paddle-dgc.csv):
/// the dense rows at the two highest give compute and bits, the others are held within a tenth.
/// Negative control: dense messages in place of DGC's. Throws Error for a table that cannot be
/// read, or with fewer than three dense rows.
std::vector<ReproductionRow> reproduce_paddle_dgc(std::string_view csv, const std::string& file);

}  // namespace gradwire::results
