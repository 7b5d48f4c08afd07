#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bridge/recording.h"

/// Chakra execution traces (MLCommons, schema 1.0.0), a file a rank, NAME.RANK.et: what simulators
/// such as ASTRA-sim run.
///
/// A rank's compute between two events is a COMP_NODE, a call a COMM_COLL_NODE (a send or receive a
/// COMM_SEND_NODE or COMM_RECV_NODE) that depends on the compute before it. What follows a wait
/// depends on the calls that are waited for. Attributes: comm_type, comm_size (bytes: of an
/// all-gather, a gather or a scatter one rank's block), pg_name, comm_src, comm_dst, comm_tag;
/// those that begin with "gradwire_" have what Chakra has no place for: steps, who is in a group,
/// and times and types to the last bit.
namespace gradwire::bridge::chakra {

/// Writes FOLDER/NAME.RANK.et, for all ranks. Throws Error where a file cannot be written, and for
/// events that are not all on one lane.
void write_traces(const Recording& recording, const std::string& folder, const std::string& name);

/// Whether the folder has files *.et.
bool is_trace_folder(const std::string& path);

/// Reads FOLDER/*.et, and who is in a group from FOLDER/*.json (bridge/chakra/groups.h). Traces
/// that others wrote have no steps: the whole is one. Nodes that compute run one after the other,
/// in an order that their dependencies allow, on the lane of the host's processor or of the device
/// where is_cpu_op tells them apart, else on one; calls begin when what they depend on is over.
/// Throws Error(kFailure) naming the file: no such messages, two files of one rank or one missing
/// (ranks are the numbers in the names), dependencies on nodes that are not there or in a circle, a
/// call that does not say what it is, some computing nodes with operations alone and some with
/// durations.
Recording read_traces(const std::string& folder);
/// One rank's file alone. Throws as read_traces().
std::vector<Event> parse_trace(std::string_view bytes, int rank, int world,
                               const std::string& path);
/// Its header alone, after a first look at all files.
Header read_traces_header(const std::string& folder);

}  // namespace gradwire::bridge::chakra
