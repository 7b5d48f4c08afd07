#include "results/runs/figure_origin.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"

namespace gradwire::results {
namespace {

constexpr Origin kNoFigure = Origin::kNoFigure, kGiven = Origin::kGiven, kTime = Origin::kTime,
                 kPayload = Origin::kPayload, kCompute = Origin::kCompute, kCodec = Origin::kCodec,
                 kLearning = Origin::kLearning, kMeasured = Origin::kMeasured,
                 kSimulated = Origin::kSimulated, kAssumed = Origin::kAssumed,
                 kPredicted = Origin::kPredicted, kAsStated = Origin::kAsStated;

constexpr FigureOrigin kFigures[] = {
    // A run and its steps.
    {"id", kNoFigure},
    {"run", kNoFigure},
    {"rank", kNoFigure},
    {"added", kNoFigure},
    {"replaced", kNoFigure},
    {"present", kNoFigure},
    {"running", kNoFigure},
    {"step", kNoFigure},
    {"worker", kNoFigure},
    {"channel", kNoFigure},
    {"workers", kGiven},
    {"bandwidth_bps", kGiven},
    {"delay_s", kGiven},
    {"link_loss", kGiven},
    {"rate_bps", kGiven},
    {"steps_total", kGiven},
    {"steps_done", kNoFigure},
    {"simulated_s", kTime},
    {"step_time_s", kTime},
    {"step_time_median_s", kTime},
    {"start_up_s", kTime},
    {"after_steps_s", kTime},
    {"exchange_s", kTime},
    {"time_to_target_s", kTime},
    {"start_s", kTime},
    {"end_s", kTime},
    {"compute_s", kCompute},
    {"codec_s", kCodec},
    {"exposed_codec_s", kTime},
    {"exposed_s", kTime},
    {"wire_bytes", kTime},
    {"traffic_ratio", kTime},
    {"retransmissions", kTime},
    {"utilisation", kTime},
    {"missing_bytes", kTime},
    {"missing_share", kTime},
    {"pipeline_bubble", kTime},
    {"exposed_transfer_s", kTime},
    {"kept_activations", kTime},
    {"activation_bytes", kPayload},
    {"activation_gradient_bytes", kPayload},
    {"buffer_bytes", kPayload},
    {"buffer_error", kLearning},
    {"buffer_error_*", kLearning},
    {"quantiser_error", kLearning},
    {"quantiser_error_*", kLearning},
    {"epoch_loss", kLearning},
    {"clients_sampled", kGiven},
    {"clients_dropped_out", kGiven},
    {"clients_arrived", kTime},
    {"clients_late", kTime},
    {"clients_busy", kTime},
    {"clients_of_earlier_rounds", kTime},
    {"staleness", kTime},
    {"staleness_*", kTime},
    {"worker_of_update", kTime},
    {"messages_left_out", kTime},
    {"neighbour_age_s", kTime},
    {"edges_lost", kTime},
    {"consensus_distance", kLearning},
    {"mean_drift", kLearning},
    {"local_accuracy_*", kLearning},
    {"spectral_gap", kGiven},
    {"gossip_edges", kGiven},
    {"edge_bytes", kPayload},
    {"workers_lost", kTime},
    {"payload_bytes", kPayload},
    {"download_bytes", kPayload},
    {"upload_bytes", kPayload},
    {"bytes", kPayload},
    {"compression_ratio", kPayload},
    {"loss", kLearning},
    {"final_loss", kLearning},
    {"held_out_loss", kLearning},
    {"accuracy", kLearning},
    {"final_accuracy", kLearning},
    {"perplexity", kLearning},
    {"client_accuracy_*", kLearning},
    {"gradient_error", kLearning},
    {"weight_spread", kLearning},
    {"loss_scale", kLearning},
    {"skipped_steps", kLearning},
    {"packed_weights_bytes", kGiven},
    {"fp32_weights_bytes", kGiven},
    {"kept_weights", kLearning},
    {"primal_residual", kLearning},
    {"outer_steps", kGiven},
    {"final_rho", kGiven},
    {"model_file_bytes", kGiven},
    {"fp32_model_bytes", kGiven},
    {"bound_refreshes", kLearning},
    {"error_bound", kLearning},
    {"largest_error_over_bound", kLearning},
    {"gradient_error_over_sigma", kLearning},
    {"saved_bits_per_element", kMeasured},
    {"conv_inputs_*", kMeasured},
    {"wall_s", kMeasured},
    {"memory_*", kMeasured},
    {"offload_bytes", kMeasured},
    {"state_file_bytes", kMeasured},
    {"states_on_disk", kMeasured},
    {"peak_rss_bytes", kMeasured},
    {"auto_*", kSimulated},
    // The summary of a run's step (results/prediction/stored_summary.h).
    {"summary_exchange_*", kGiven},
    {"summary_way_*", kGiven},
    {"summary_workers", kGiven},
    {"summary_group", kGiven},
    {"summary_overlap", kGiven},
    {"summary_form", kGiven},
    {"summary_path_*", kGiven},
    {"summary_buckets", kGiven},
    {"summary_forward_s", kCompute},
    {"summary_backward_s", kCompute},
    {"summary_update_s", kCompute},
    {"summary_compute_spread", kGiven},
    {"summary_slowest", kGiven},
    {"summary_encode_s", kCodec},
    {"summary_decode_s", kCodec},
    {"summary_add_s", kCodec},
    {"summary_scale_s", kCodec},
    {"summary_message_bytes", kPayload},
    {"summary_prelude_bytes", kPayload},
    {"summary_pull_bytes", kPayload},
    {"summary_bandwidth_bytes_per_s", kGiven},
    {"summary_server_bandwidth_bytes_per_s", kGiven},
    {"summary_path_delay_s", kGiven},
    {"summary_delay_s", kGiven},
    {"summary_forwarding_s", kGiven},
    {"summary_path_loss", kGiven},
    {"summary_loss", kGiven},
    {"summary_rate_spread", kGiven},
    {"summary_segment_bytes", kGiven},
    {"summary_wire_segment_bytes", kGiven},
    {"summary_timeout_s", kGiven},
    {"summary_delayed_ack_s", kGiven},
    {"summary_compute_range_low", kAssumed},
    {"summary_compute_range_high", kAssumed},
    {"summary_coding_range_low", kAssumed},
    {"summary_coding_range_high", kAssumed},
    {"summary_correction_bytes", kGiven},
    {"summary_correction_factor", kSimulated},
    {"summary_prelude_correction_bytes", kGiven},
    {"summary_prelude_correction_factor", kSimulated},
    // What commands print beside the figures of runs.
    {"seed", kNoFigure},
    {"seeds", kNoFigure},
    {"runs", kNoFigure},
    {"steps", kNoFigure},
    {"repetitions", kNoFigure},
    {"simulations", kNoFigure},
    {"emulated_run", kNoFigure},
    {"simulated_run", kNoFigure},
    {"elements", kNoFigure},
    {"line", kNoFigure},
    {"events", kPredicted},  // of a run that is planned
    {"forecast_s", kPredicted},
    {"remaining_s", kPredicted},  // of a run that is under way
    {"final_accuracy_spread", kLearning},
    {"base_rtt_s", kMeasured},
    {"emulated_exchange_s", Origin::kEmulated},
    {"simulated_exchange_s", kSimulated},
    {"flow_over_emulated", kAsStated},
    {"frame_bytes", kPayload},
    {"bits_per_element", kPayload},
    {"flops_per_sample", kAsStated},
    {"activations_per_sample", kAsStated},
    // Of profiles: measured on this device, or counted.
    {"forward_s", kAsStated},
    {"backward_s", kAsStated},
    {"aggregate_s", kAsStated},
    {"encode_fixed_s", kAsStated},
    {"encode_s_per_element", kAsStated},
    {"decode_fixed_s", kAsStated},
    {"decode_s_per_element", kAsStated},
    {"rate", kAsStated},
    // Of calibrations: what the reference took.
    {"reference_s", kAsStated},
    // Rows that are figures: their own names, units and labels say where they come from.
    {"value", kAsStated},
    {"spread", kAsStated},
    {"bar", kGiven},
    {"delta", kAsStated},
    {"factor", kAsStated},
    // Of fits and closed forms.
    {"low_90", kPredicted},
    {"high_90", kPredicted},
    {"low_s", kPredicted},
    {"high_s", kPredicted},
    {"error", kPredicted},
    {"error_before", kPredicted},
    {"encode_s", kAsStated},
    {"decode_s", kAsStated},
    {"wait_s", kPredicted},
    {"efficiency", kAsStated},
    {"over_fp32", kPredicted},
    {"over_fp16", kPredicted},
    {"pays_below_bps", kPredicted},
    {"bucket_bytes", kGiven},
    {"accuracy_difference", kAsStated, "accuracy_provenance"},
    // Costs are predicted times at given prices.
    {"cost_per_step", kPredicted},
    {"million_samples_s", kPredicted},
    {"cost_per_million_samples", kPredicted},
    {"epoch_s", kPredicted},
    {"cost_per_epoch", kPredicted},
    {"steps_to_accuracy", kAsStated, "steps_provenance"},
    {"to_accuracy_s", kPredicted},
    {"to_accuracy_low_s", kPredicted},
    {"to_accuracy_high_s", kPredicted},
    {"cost_to_accuracy", kPredicted},
    {"simulated_miss", kSimulated},
    {"unchecked_miss", kSimulated},
    {"flow_step_time_s", kSimulated},
    {"flow_over_fp32", kSimulated},
    {"flow_over_fp16", kSimulated},
};

/// "message_bytes" of "message_bytes_3".
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool numbered =
      last != std::string_view::npos && last + 1 < name.size() && name[last] == '_';
  return numbered ? name.substr(0, last) : name;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

}  // namespace

std::span<const FigureOrigin> figure_origins() {
  return kFigures;
}

const FigureOrigin* find_origin(std::string_view figure) {
  for (const std::string_view name : {figure, without_number(figure)})
    for (const FigureOrigin& each : kFigures)
      if (matches(each.name, name)) return &each;
  return nullptr;
}

std::optional<Origin> origin_of(std::string_view figure) {
  const FigureOrigin* found = find_origin(figure);
  return found ? std::optional(found->origin) : std::nullopt;
}

std::string_view in_words(Origin origin) {
  switch (origin) {
    case Origin::kNoFigure:
      return "";
    case Origin::kGiven:
      return "given by the scenario";
    case Origin::kTime:
      return "from the run's executor: predicted, simulated or emulated";
    case Origin::kPayload:
      return "measured on messages, or predicted from their sizes' formula";
    case Origin::kCompute:
    case Origin::kCodec:
      return "measured here, or from a device profile";
    case Origin::kLearning:
    case Origin::kMeasured:
      return "measured";
    case Origin::kSimulated:
      return "simulated";
    case Origin::kEmulated:
      return "emulated";
    case Origin::kPredicted:
      return "predicted";
    case Origin::kPublished:
      return "published";
    case Origin::kAssumed:
      return "assumed";
    case Origin::kAsStated:
      return "as the figure's row says";
  }
  return "";
}

Provenance provenance_in(std::string_view figure, const RunOrigins& origins) {
  const std::optional<Origin> origin = origin_of(figure);
  GRADWIRE_ASSERT(origin.has_value());
  switch (*origin) {
    case Origin::kGiven:
      return Provenance::kGiven;
    case Origin::kTime:
      return origins.time;
    case Origin::kPayload:
      return origins.payload;
    case Origin::kCompute:
      return origins.compute;
    case Origin::kCodec:
      return origins.codec;
    case Origin::kLearning:
    case Origin::kMeasured:
      return Provenance::kMeasured;
    case Origin::kSimulated:
      return Provenance::kSimulated;
    case Origin::kEmulated:
      return Provenance::kEmulated;
    case Origin::kPredicted:
      return Provenance::kPredicted;
    case Origin::kPublished:
      return Provenance::kPublished;
    case Origin::kAssumed:
      return Provenance::kAssumed;
    default:
      GRADWIRE_ASSERT(false);  // not a run's
      return Provenance::kAssumed;
  }
}

}  // namespace gradwire::results
