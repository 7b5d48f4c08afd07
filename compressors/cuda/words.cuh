#pragma once
#include "compressors/cuda/batch.cuh"

/// Codecs that send each value as a number of its own. A Format has the number's type, Word, and
///   __device__ static Word from_float(float value, bool saturate);
///   __device__ static float to_float(Word word);
namespace gradwire::compressors::cuda {

template <class Format>
struct EncodeWords {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;
  bool saturate;
  typename Format::Word* words;

  std::uint64_t units() const { return units_of(from.n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, from.n, [&](std::uint64_t i) {
      const float value = from.values[i];
      if (!is_finite(value)) refuse(from.report, i);
      words[i] = Format::from_float(value, saturate);
    });
  }
};

template <class Format, bool kAdd>
struct DecodeWords {
  static constexpr unsigned kBlockThreads = kThreads;
  const typename Format::Word* words;
  Sink to;

  std::uint64_t units() const { return units_of(to.n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    if (refused(to.report)) return;
    for_each_of(unit, to.n, [&](std::uint64_t i) {
      const float value = Format::to_float(words[i]);
      to.values[i] = kAdd ? to.values[i] + to.factor * value : value;
    });
  }
};

template <class Format>
void encode_words(Encodes from, bool saturate) {
  launch_items(from.size(), common_stream(from), "encode tensors", [&](std::size_t i) {
    auto* words = reinterpret_cast<typename Format::Word*>(from[i].payload);
    return EncodeWords<Format>{from[i].source, saturate, words};
  });
}

template <class Format, bool kAdd>
void decode_words_to(Decodes to) {
  launch_items(to.size(), common_stream(to), "decode tensors", [&](std::size_t i) {
    const auto* words = reinterpret_cast<const typename Format::Word*>(to[i].payload);
    return DecodeWords<Format, kAdd>{words, to[i].sink};
  });
}

template <class Format>
void decode_words(Decodes to) {
  if (to[0].sink.add)
    decode_words_to<Format, true>(to);
  else
    decode_words_to<Format, false>(to);
}

}  // namespace gradwire::compressors::cuda
