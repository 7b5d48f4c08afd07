#include "sim/transport/transport_settings.h"

namespace gradwire::sim {

Bytes wire_bytes(Bytes payload, const TransportSettings& transport) {
  const std::int64_t segment = transport.segment.count();
  const std::int64_t headers = transport.wire_segment.count() - segment;
  const std::int64_t segments = (payload.count() + segment - 1) / segment;
  return Bytes(payload.count() + segments * headers);
}

}  // namespace gradwire::sim
