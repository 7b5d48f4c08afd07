#pragma once
#include <limits>

#include "trainers/methods/codec_options.h"
#include "trainers/methods/method.h"

namespace gradwire::methods {

/// One codec for all tensors but small ones, which go as fp32; the server's answer by the same
/// codec where asked.
class OneCodec : public Method {
 public:
  struct Settings {
    compressors::CodecChoice codec;
    bool error_feedback = false;
    std::size_t whole_below = 0;  ///< elements of tensors that go as fp32
    bool encodes_answer = false;
  };
  explicit OneCodec(Settings settings) : settings_(std::move(settings)) {}

  SetPlan plan(std::size_t, std::size_t) const override {
    SetPlan plan;
    plan.up.codec = settings_.codec;
    plan.up.error_feedback = settings_.error_feedback;
    if (settings_.whole_below > 0)
      plan.up.rules.push_back({.tensors = {.elements_below = settings_.whole_below}, .codec = {}});
    if (settings_.encodes_answer) {
      plan.down = plan.up;
      plan.down->error_feedback = false;
    }
    return plan;
  }

 private:
  Settings settings_;
};

}  // namespace gradwire::methods
