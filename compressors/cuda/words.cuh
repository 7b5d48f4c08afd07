#pragma once
#include "compressors/cuda/eight.cuh"

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

  std::uint64_t units() const { return units_of(from.n, kTile); }
  __device__ void run(std::uint64_t unit) const {
    const std::uint64_t first = first_of_eight(unit);
    if (first >= from.n) return;
    float values[kEight];
    typename Format::Word out[kEight];
    load_eight(from.values, first, from.n, values);
#pragma unroll
    for (unsigned j = 0; j < kEight; ++j) {
      if (!is_finite(values[j])) refuse(from.report, first + j);
      out[j] = Format::from_float(values[j], saturate);
    }
    store_eight(out, first, from.n, words);
  }
};

template <class Format, bool kAdd>
struct DecodeWords {
  static constexpr unsigned kBlockThreads = kThreads;
  const typename Format::Word* words;
  Sink to;

  std::uint64_t units() const { return units_of(to.n, kTile); }
  __device__ void run(std::uint64_t unit) const {
    const std::uint64_t first = first_of_eight(unit);
    if (first >= to.n || refused(to.report)) return;
    typename Format::Word in[kEight];
    float values[kEight];
    load_eight(words, first, to.n, in);
    if (kAdd) load_eight<float>(to.values, first, to.n, values);
#pragma unroll
    for (unsigned j = 0; j < kEight; ++j) {
      const float value = Format::to_float(in[j]);
      values[j] = kAdd ? values[j] + to.factor * value : value;
    }
    store_eight(values, first, to.n, to.values);
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
