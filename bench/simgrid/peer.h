#pragma once
#include <string>

/// Prints transfers, seconds of wall clock (platform, graph and simulation), simulated seconds.
int run_ring(const std::string& way, int workers, double bytes_a_hop);

/// Reads from standard input: links, flows; each link's bytes a second; for each flow its bytes,
/// the number of its links, and these. All flows start at 0; prints when each has ended.
int run_shares();
