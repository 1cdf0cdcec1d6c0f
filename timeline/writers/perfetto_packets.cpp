#include "timeline/writers/perfetto_packets.hpp"

#include <algorithm>
#include <functional>
#include <ostream>
#include <utility>

namespace ridgeline::timeline {
namespace {

constexpr std::uint32_t kSequence = 1;  // one writer

void append_varint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

}  // namespace

void PerfettoPackets::track(perfetto::TrackDescriptor descriptor) {
  perfetto::TracePacket packet;
  *packet.mutable_track_descriptor() = std::move(descriptor);
  write(packet);
}

void PerfettoPackets::event(core::Instant at, perfetto::TrackEvent event) {
  waiting_.push_back({at, events_++, std::move(event)});
  std::push_heap(waiting_.begin(), waiting_.end(), std::greater<>());
}

void PerfettoPackets::flush_before(core::Instant time) {
  while (!waiting_.empty() && waiting_.front().at < time) {
    std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<>());
    perfetto::TracePacket packet;
    packet.set_timestamp(static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, (waiting_.back().at - origin_).count)));
    *packet.mutable_track_event() = std::move(waiting_.back().event);
    waiting_.pop_back();
    write(packet);
  }
}

void PerfettoPackets::write(perfetto::TracePacket& packet) {
  packet.set_trusted_packet_sequence_id(kSequence);
  if (std::exchange(first_, false))
    packet.set_sequence_flags(perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
  // A trace is one message whose only field, number 1, is its packets: each can be written as it
  // comes.
  constexpr char kPacketOfTrace = 0x0A;  // field 1, with a length
  bytes_.assign(1, kPacketOfTrace);
  append_varint(packet.ByteSizeLong(), bytes_);
  packet.AppendToString(&bytes_);
  out_.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
}

}  // namespace ridgeline::timeline
