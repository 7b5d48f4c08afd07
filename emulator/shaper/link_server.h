#pragma once

/// `gradwire-emulator-hub links`: the process of the emulator that makes the links of a WirePlan.
/// It lives in the hub's namespace, takes frames on it (hub/frame.h) from standard input, and
/// answers on standard output:
///
///     {"kind": "wires", ...}         the plan; answered by "wired" with what the process can hold
///     {"kind": "live", "epoch": s}   links are as planned from now on, 0 of their schedules at s
///     {"kind": "calm"}               until then they are steady and lose nothing
///     {"kind": "links"}              answered by "links" with what was seen
namespace gradwire::emulator {

/// Returns the process's exit code.
int run_link_server();

}  // namespace gradwire::emulator
