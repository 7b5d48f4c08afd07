#include "scenarios/checks/combination_facts.h"

namespace gradwire::scenarios::combined {
namespace {

const Combination kExecutorCombinations[] = {
    // What executors know.
    {"transport rdma", "links that lose packets",
     "rdma is InfiniBand or RoCE on a network without loss: no packet is sent again", "0, or tcp",
     [](const Scenario& s) {
       Places found;
       if (s.network.transport.protocol != Protocol::kRdma) return found;
       for (const auto& [pointer, link] : given_links(s.network))
         if (link.loss > 0 || link.burst.enter > 0) found.push_back(pointer);
       return found;
     },
     kOfTransport},
    {"library nccl", "any transport but rdma",
     "NCCL's collectives are known over NVLink, InfiniBand and RoCE", "rdma, or library none",
     [](const Scenario& s) {
       return at("/network/library", s.network.transport.library.has_value() &&
                                         s.network.transport.protocol != Protocol::kRdma);
     },
     kOfTransport},
    {"library nccl", "collective auto",
     "auto compares collectives, and NCCL's times are known of rings alone",
     "ring, or library none",
     [](const Scenario& s) {
       return at("/network/library",
                 s.network.transport.library.has_value() && collective_of(s) == "auto");
     },
     kOfTransportAndCollective},
    {"detail fluid", "radio cells, or transport udp-lossy",
     "a fluid has neither the frames of a radio cell nor the losses of udp-lossy",
     "auto or per-packet",
     [](const Scenario& s) {
       const bool by_packets =
           s.network.transport.protocol == Protocol::kUdpLossy || (runs_tcp(s) && is_radio(s));
       return at("/network/detail", s.network.detail == sim::Detail::kFluid && by_packets);
     },
     kOfTransport},
    {"detail per-packet", "transports ideal and rdma", "ideal and rdma have rates and no packets",
     "auto or fluid",
     [](const Scenario& s) {
       const Protocol protocol = s.network.transport.protocol;
       return at("/network/detail",
                 s.network.detail == sim::Detail::kPerPacket &&
                     (protocol == Protocol::kIdeal || protocol == Protocol::kRdma));
     },
     kOfTransport},
    {"executor packet", "transport rdma", "executor packet has no model of RDMA", "flow or model",
     [](const Scenario& s) {
       return at("/network/transport/protocol",
                 is_by(s, {"packet"}) && s.network.transport.protocol == Protocol::kRdma);
     },
     kOfExecutor},
    {"executor packet", "transport ideal", "executor packet sends packets, and they take time",
     "tcp or udp-lossy, or executor flow",
     [](const Scenario& s) {
       return at("/network/transport/protocol",
                 is_by(s, {"packet"}) && s.network.transport.protocol == Protocol::kIdeal);
     },
     kOfExecutor},
    {"executor packet", "absences in a radio cell",
     "executor packet lets no station of a radio cell go away", "flow",
     [](const Scenario& s) {
       return at("/cluster/absences",
                 is_by(s, {"packet"}) && is_radio(s) && !s.cluster.absences.empty());
     },
     kOfExecutor},
    {"executor model, emulator", "any transport but tcp (model: or rdma)",
     "executor {executor} speaks TCP (and model RDMA)", "flow, or packet but for ideal and rdma",
     [](const Scenario& s) {
       const bool modelled = is_by(s, {"model"}) && s.network.transport.protocol == Protocol::kRdma;
       return at("/network/transport/protocol",
                 is_by(s, {"model", "emulator"}) && !runs_tcp(s) && !modelled);
     },
     kOfExecutor},
    {"executor model, emulator", "background traffic",
     "executor {executor} has no background traffic", "flow or packet",
     [](const Scenario& s) {
       return at("/network/background",
                 is_by(s, {"model", "emulator"}) && !s.network.background.empty());
     },
     kOfExecutor},
    {"executor emulator", "absences", "executor {executor} lets no worker fail",
     "flow, packet or model",
     [](const Scenario& s) {
       return at("/cluster/absences", is_by(s, {"emulator"}) && !s.cluster.absences.empty());
     },
     kOfExecutor},
    {"executor emulator", "a spread of compute times", "executor {executor} has no spread of times",
     "flow, packet or model",
     [](const Scenario& s) {
       return at("/cluster/spread", is_by(s, {"emulator"}) && s.cluster.spread > 0);
     },
     kOfExecutor},
    {"executor emulator", "radio cells", "the emulator has no radio cells", "flow or packet",
     [](const Scenario& s) {
       return at("/network/topology", is_by(s, {"emulator"}) && is_radio(s));
     },
     kOfExecutor},
    {"executor emulator", "half-duplex links", "the emulator's links are full duplex",
     "flow or packet", shared_media, kOfExecutor},
    {"executor flow", "bbr with a calibration against Linux",
     "flow models bbr as ns-3 has it, not by Linux's rules", "cubic, reno, or calibration packet",
     [](const Scenario& s) {
       const sim::TransportSettings& transport = s.network.transport;
       return at(
           "/network/transport/congestion_control",
           is_by(s, {"flow"}) && transport.constants.kernel_recovery &&
               transport.congestion_control == sim::TransportSettings::CongestionControl::kBbr);
     },
     kOfExecutor},
};

}  // namespace

std::span<const Combination> executor_combinations() {
  return kExecutorCombinations;
}

}  // namespace gradwire::scenarios::combined
