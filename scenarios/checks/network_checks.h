#pragma once
#include "scenarios/checks/rules.h"

/// Rules about links and what crosses them.
namespace gradwire::scenarios {

void check_background(const Rules& rules);
void check_transfers(const Rules& rules);
/// Files of rates and of a calibration.
void check_network_files(const Rules& rules);
/// In-network aggregation: where the switches form a tree, and can add.
void check_in_network(const Rules& rules);
void check_server_link(const Rules& rules);
void check_transport(const Rules& rules);
void check_queues(const Rules& rules);

}  // namespace gradwire::scenarios
