#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

/// Constants of IEEE 802.11-2020 and 802.11ax at 5 GHz, access category best effort, and the
/// lengths of frames.
namespace gradwire::sim::wifi {

inline constexpr double kSifs = 16e-6;  // s
inline constexpr double kSlot = 9e-6;
inline constexpr double kAifs = kSifs + 3 * kSlot;
inline constexpr double kEifsMore = kSifs + 44e-6;  ///< an acknowledgement's at 6 Mbps
inline constexpr int kLeastSlots = 15;
inline constexpr int kMostDoublings = 6;  ///< to 1,023
inline constexpr int kMostTries = 7;      ///< until the window is the least one again

inline constexpr double kPreamble = 44e-6;  ///< L-STF to HE-LTF
inline constexpr double kSymbol = 16e-6;    ///< with a guard interval of 3.2 us
inline constexpr double kServiceBits = 22;  ///< service field and tail
inline constexpr double kAck = 28e-6;       ///< 14 bytes at 24 Mbps
inline constexpr double kBlockAck = 40e-6;  ///< 56 bytes: 256 packets
inline constexpr double kAsking = 32e-6;    ///< 24 bytes
inline constexpr double kLegacyPreamble = 20e-6;
inline constexpr std::int64_t kMostBytes = 65535;  ///< of a frame
inline constexpr double kMostAir = 5.484e-3;       ///< s
inline constexpr std::size_t kMostPackets = 256;
inline constexpr std::size_t kQueue = 500;  ///< packets
inline constexpr double kLifetime = 0.5;    ///< s, in it
/// bits/s, where no scheme reaches: the slowest one on 20 MHz.
inline constexpr double kLeastRate = 234 * 0.5 / kSymbol;

/// The least ratio of a frame that is taken up to noise and all else: 4 dB.
inline constexpr double kTaken = 2.512;
inline constexpr double kEnergy = 6.31e-7;       ///< mW (-62 dBm): what keeps busy unheard
inline constexpr double kSensitivity = 6.31e-9;  ///< mW (-82 dBm): the same of what begins
inline constexpr double kControlWidth = 20e6;    ///< Hz, of preambles and acknowledgements

inline constexpr double kThermalNoise = -174;  ///< dBm/Hz

/// mW, or a ratio.
inline double from_decibels(double decibels) {
  return std::pow(10, decibels / 10);
}

/// Bytes of a frame that had `before` and gets one more packet. On the air a packet has 38 bytes of
/// MAC header, LLC and checksum, as many as its framing on a wire, and a delimiter.
inline std::int64_t framed(std::int64_t before, std::int32_t packet) {
  return (before + 3) / 4 * 4 + 4 + packet;
}

/// s, of a frame with so many bytes.
inline double air_time(std::int64_t bytes, double rate) {
  const double bits = kServiceBits + 8 * static_cast<double>(bytes);
  return kPreamble + kSymbol * std::ceil(bits / (rate * kSymbol) - 1e-9);
}

}  // namespace gradwire::sim::wifi
