#include "trainers/channel/broadcast.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <sstream>

#include "base/philox.h"

using namespace gradwire;
using namespace gradwire::trainers;

namespace {

Layout small_layout() {
  const std::vector<Parameter> parameters = {{"fc.weight", {10, 20}}, {"fc.bias", {10}}};
  return Layout(parameters, Bytes(1'000'000));
}

compressors::CodecPlan ternary(const char* ratio, bool feedback = true) {
  return {.codec = {"stc", {{"ratio", ratio}}}, .error_feedback = feedback};
}

Broadcast made(const Layout& layout, const char* ratio, std::int64_t stored) {
  return Broadcast(TensorChannel(std::vector{ternary(ratio)}, layout, 1), stored, 4);
}

/// Numbers in [-1, 1).
std::vector<float> drawn(std::size_t n, std::uint32_t step) {
  std::vector<float> values(n);
  const RandomStream stream{7, step, 0, 0};
  for (std::size_t e = 0; e < n; ++e) values[e] = 2 * uniform(stream, e) - 1;
  return values;
}

std::span<const float> floats(std::span<const std::byte> state, std::size_t first,
                              std::size_t count) {
  return {reinterpret_cast<const float*>(state.data()) + first, count};
}

}  // namespace

TEST_CASE("clients that took every message, or caught up, hold the server's weights bit for bit",
          "[rounds]") {
  const Layout layout = small_layout();
  Broadcast broadcast = made(layout, "0.1", 5);
  std::vector<float> server = drawn(210, 100), each = server, seldom = server, summed = server;
  std::int64_t seldom_has = 0;
  const std::vector<float> first = server;
  for (std::uint32_t round = 0; round < 40; ++round) {
    broadcast.send(round, drawn(210, round), server);
    broadcast.catch_up(broadcast.version() - 1, each);
    REQUIRE(each == server);
    if (round % 5 != 4) continue;
    // It missed 5 messages.
    const auto download = broadcast.download(seldom_has);
    CHECK(download.messages == 5);
    std::vector<float> change(210, 0.0f);
    broadcast.catch_up(seldom_has, change);
    for (std::size_t e = 0; e < summed.size(); ++e) summed[e] += change[e];
    broadcast.catch_up(seldom_has, seldom);
    seldom_has = broadcast.version();
    REQUIRE(seldom == server);
  }
  // Negative controls: the sum of messages in place of one after the other rounds otherwise, and a
  // message that is left out is missing.
  CHECK(summed != server);
  std::vector<float> left_out = each;
  broadcast.send(40, drawn(210, 40), server);
  CHECK(left_out != server);
}

TEST_CASE("what a server broadcast and its residual are what it changed", "[rounds]") {
  const Layout layout = small_layout();
  Broadcast broadcast = made(layout, "0.05", 3);
  std::vector<float> model(210, 0.0f);
  std::vector<double> changes(210, 0.0);
  for (std::uint32_t round = 0; round < 60; ++round) {
    const std::vector<float> change = drawn(210, round);
    for (std::size_t e = 0; e < 210; ++e) changes[e] += double{change[e]};
    broadcast.send(round, change, model);
  }
  // By tensor in layout order: residuals lie one after the other, padded to 8 bytes: 200 and 10
  // floats, or 10 and 200, need no padding.
  const auto residual = floats(broadcast.residual(), 0, 210);
  for (std::size_t e = 0; e < 210; ++e)
    CHECK(double{model[e]} + double{residual[e]} == Approx(changes[e]).margin(1e-4));
  // Negative control: messages alone are not.
  double apart = 0;
  for (std::size_t e = 0; e < 210; ++e)
    apart = std::max(apart, std::fabs(double{model[e]} - changes[e]));
  CHECK(apart > 0.5);
}

TEST_CASE("a download is the messages that were missed, or the model if that is smaller",
          "[rounds]") {
  const Layout layout = small_layout();
  const Bytes model(4 * 210);
  // Two tensors: u32 length, f32 mu, codes. k = 10 of 200 and 1 of 10: by the encoder's own bound a
  // few bytes more than 16.
  Broadcast broadcast = made(layout, "0.05", 4);
  CHECK(broadcast.download(std::nullopt).bytes == model);
  CHECK(broadcast.download(0).bytes == Bytes(0));
  std::vector<float> weights(210, 0.0f);
  for (std::uint32_t round = 0; round < 4; ++round)
    broadcast.send(round, drawn(210, round), weights);
  const Bytes one = broadcast.download(3).bytes, four = broadcast.download(0).bytes;
  CHECK(one > Bytes(16));
  CHECK(one < Bytes(40));
  CHECK(four > one * 3);
  CHECK(broadcast.download(0).messages == 4);
  broadcast.send(4, drawn(210, 4), weights);
  // The first one is no longer stored.
  CHECK(broadcast.download(0).bytes == model);
  CHECK(broadcast.download(0).messages == 0);
  CHECK(broadcast.download(1).messages == 4);
  // Messages that take more than the model: it is sent instead.
  Broadcast large = made(layout, "0.9", 50);
  for (std::uint32_t round = 0; round < 20; ++round) large.send(round, drawn(210, round), weights);
  CHECK(large.download(19).bytes < model);
  CHECK(large.download(0).bytes == model);
}

TEST_CASE("a server goes on where it was saved", "[rounds]") {
  const Layout layout = small_layout();
  Broadcast first = made(layout, "0.05", 4), second = made(layout, "0.05", 4);
  std::vector<float> weights(210, 0.0f), other;
  for (std::uint32_t round = 0; round < 6; ++round) first.send(round, drawn(210, round), weights);
  std::stringstream saved;
  first.save(saved);
  second.load(saved);
  other = weights;
  first.send(6, drawn(210, 6), weights);
  second.send(6, drawn(210, 6), other);
  CHECK(other == weights);
  CHECK(second.download(3).bytes == first.download(3).bytes);
  // Negative control: another model's.
  const std::vector<Parameter> parameters = {{"fc.weight", {3, 3}}};
  const Layout tiny(parameters, Bytes(1'000'000));
  Broadcast third = made(tiny, "0.05", 4);
  std::stringstream again;
  first.save(again);
  CHECK_THROWS_AS(third.load(again), Error);
}

TEST_CASE("uploads and a residual are all that a client changed, cut off or not", "[rounds]") {
  const Layout layout = small_layout();
  const TensorChannel up(std::vector{ternary("0.05")}, layout, 1);
  std::vector<std::uint64_t> words(up.state_bytes() / 8);
  const auto state = std::as_writable_bytes(std::span(words));
  std::vector<double> changed(210, 0.0);
  std::vector<float> arrived(210, 0.0f);
  std::vector<std::byte> message;
  for (std::uint32_t round = 0; round < 50; ++round) {
    const std::vector<float> change = drawn(210, round);
    for (std::size_t e = 0; e < 210; ++e) changed[e] += double{change[e]};
    up.encode(state, 0, round, change, message);
    if (round % 7 == 3) {  // never arrives
      up.take_back(state, message);
      continue;
    }
    const auto payloads = up.payloads(message);
    for (std::size_t t = 0; t < payloads.size(); ++t) up.add(t, payloads[t], 1.0f, arrived);
  }
  const auto residual = floats(state, 0, 210);
  for (std::size_t e = 0; e < 210; ++e)
    CHECK(double{arrived[e]} + double{residual[e]} == Approx(changed[e]).margin(1e-4));
}
