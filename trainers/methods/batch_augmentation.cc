#include <algorithm>
#include <vector>

#include "trainers/methods/rows.h"

/// Batch augmentation (Hoffer and others, arXiv 1901.09335). A step takes B samples, each in M
/// copies, changed by transformations T that are drawn anew for each:
///
///   w <- w - lr 1 / (B M) sum over n, m of grad l(w; T_m(x_n), y_n)
///
/// M neighbouring workers see the same B samples, each through a T of its own, and gradients are
/// averaged as in plain training: nothing is compressed, and the rate stays. T shifts an image by
/// up to `shift` pixels each way, with wrap-around, and sets a square of `cutout` pixels to 0, the
/// mean of all images. Draws are by seed, step, worker and sample; `same_draws` gives all copies
/// the same ones, for comparison.
namespace gradwire::methods {
namespace {

class BatchAugmentation final : public Method {
 public:
  explicit BatchAugmentation(const MethodSettings& settings)
      : copies_(static_cast<int>(settings.options.integer("copies"))),
        shift_(static_cast<int>(settings.options.integer("shift"))),
        cutout_(static_cast<int>(settings.options.integer("cutout"))),
        same_draws_(settings.options.boolean("same_draws")) {}

  SetPlan plan(std::size_t, std::size_t) const override { return {}; }
  int copies() const override { return copies_; }
  bool augments() const override { return shift_ > 0 || cutout_ > 0; }

  void augment(const ImageBatch& images, const RandomStream& draws) const override {
    RandomStream own = draws;
    if (same_draws_) own.worker -= own.worker % static_cast<std::uint32_t>(copies_);
    const auto pixels =
        static_cast<std::size_t>(images.height) * static_cast<std::size_t>(images.width);
    const std::size_t size = pixels * static_cast<std::size_t>(images.channels);
    for (int i = 0; i < images.count; ++i) {
      const PhiloxBlock block = philox_block(own, static_cast<std::uint32_t>(i));
      for (int channel = 0; channel < images.channels; ++channel)
        change(images, block,
               images.values.subspan(
                   static_cast<std::size_t>(i) * size + static_cast<std::size_t>(channel) * pixels,
                   pixels));
    }
  }

 private:
  /// Uniform in [0, n) but for a share of n / 2^32.
  static int draw(std::uint32_t word, int n) {
    return static_cast<int>((static_cast<std::uint64_t>(word) * static_cast<std::uint64_t>(n)) >>
                            32);
  }

  void change(const ImageBatch& images, const PhiloxBlock& block, std::span<float> plane) const {
    const int height = images.height, width = images.width;
    const auto at = [&](int row, int column) {
      return static_cast<std::size_t>((row + height) % height * width + (column + width) % width);
    };
    if (shift_ > 0) {
      thread_local std::vector<float> before;
      before.assign(plane.begin(), plane.end());
      const int down = draw(block.word[0], 2 * shift_ + 1) - shift_;
      const int right = draw(block.word[1], 2 * shift_ + 1) - shift_;
      for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column)
          plane[at(row, column)] = before[at(row - down % height, column - right % width)];
    }
    const int top = draw(block.word[2], height) - cutout_ / 2;
    const int left = draw(block.word[3], width) - cutout_ / 2;
    for (int row = std::max(0, top); row < std::min(height, top + cutout_); ++row)
      for (int column = std::max(0, left); column < std::min(width, left + cutout_); ++column)
        plane[at(row, column)] = 0;
  }

  int copies_, shift_, cutout_;
  bool same_draws_;
};

OptionTable options_of_batch_augmentation() {
  return {{.name = "copies",
           .type = OptionType::kInteger,
           .default_text = "4",
           .help = "M, the neighbouring workers that see the same samples; 4 to 40 in the paper.",
           .min = 1,
           .max = 65536},
          {.name = "shift",
           .type = OptionType::kInteger,
           .default_text = "2",
           .help = "Images are shifted by up to so many pixels each way; 0: not.",
           .min = 0,
           .max = 64},
          {.name = "cutout",
           .type = OptionType::kInteger,
           .default_text = "5",
           .help = "Side of the square that is set to 0, somewhere in each image; 0: none.",
           .min = 0,
           .max = 512},
          {.name = "same_draws",
           .type = OptionType::kBoolean,
           .default_text = "false",
           .help = "All copies of a sample are changed alike: M times the work for nothing."}};
}

}  // namespace

MethodRow batch_augmentation_row() {
  return {.name = "batch-augmentation",
          .summary = "workers see the same samples, each changed in its own way",
          .paper =
              "Hoffer and others, Augment your batch: better training with larger batches, "
              "arXiv 1901.09335",
          .state = Reproduction::kPartly,
          .schedule = "synchronous",
          .routes = "any",
          .sends = "gradients as fp32",
          .page = "methods/batch-augmentation.md",
          .options = options_of_batch_augmentation(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<BatchAugmentation>(settings);
          }};
}

}  // namespace gradwire::methods
