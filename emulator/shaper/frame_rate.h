#pragma once
#include "emulator/shaper/packet_socket.h"

namespace gradwire::emulator {

/// Full frames a second that this process takes from one device and hands to another, now: it sends
/// bursts of them on one end of a veth pair and takes them at the other. Nothing else may come in
/// meanwhile. 0: none came.
double measure_frame_rate(PacketSocket& socket, int device, int peer);

}  // namespace gradwire::emulator
