#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plausible.h"
#include "base/units.h"

/// Profiles: figures that stand in for what is not measured here. They are data, with an honest
/// source; closed objects, read by tables as scenarios are. Times in the files are plain numbers of
/// seconds whose keys end in "_s", as `profile` writes them.
namespace gradwire::scenarios {

/// Where a profile's figures come from: "measured", "published", "computed", "assumed".
struct ProfileOrigin {
  std::string name;
  std::string source;
  std::string note;  ///< machine, paper, or how it was assumed
  std::string file;
  /// How far its times of passes, and of codecs, may be from the truth. Where the file does not
  /// say: kAssumedCompute and kAssumedCodecs for what is assumed, else certain.
  PlausibleRange compute = {};
  PlausibleRange codecs = {};
};
/// Of a time that somebody assumed and gave no range for.
inline constexpr PlausibleRange kAssumedCompute{0.5, 2};
inline constexpr PlausibleRange kAssumedCodecs{0.5, 10};

/// A device: seconds of its passes and codecs.
///
/// Model. Time of a pass over b samples = fixed + b * per_sample; of a codec operation on n
/// elements = fixed + n * per_element. It breaks down where batches are so small that vector units
/// stand idle, or so large that caches overflow. The backward pass is spread over a model's tensors
/// by their share of elements.
struct DeviceProfile {
  struct Pass {
    Seconds fixed{0};
    Seconds per_sample{0};
    Seconds time(int samples) const { return fixed + per_sample * samples; }
  };
  struct Model {
    Pass forward;
    Pass backward;
    Seconds update{0};  ///< optimiser, all parameters
  };
  struct Cost {
    Seconds fixed{0};
    Seconds per_element{0};
    Seconds time(std::int64_t elements) const {
      return fixed + per_element * static_cast<double>(elements);
    }
  };
  struct Codec {
    Cost encode;
    Cost decode;     ///< one message, or unpacking a sum
    Cost aggregate;  ///< adding one message
  };

  /// What a layer table needs to have times on this device (scenarios/profiles/layer_times.h).
  struct Peak {
    struct Compute {
      double flops_per_second = 0;
      double efficiency = 0;  ///< share of it that convolutions and matrix products reach
    };
    std::map<std::string, Compute> compute;  ///< by precision: fp32, tf32, fp16
    double memory_bytes_per_second = 0;
    Seconds launch{0};        ///< the shortest time of a layer's pass
    double memory_bytes = 0;  ///< that the device has; 0 = not known
  };

  /// What its kernels reach of the peak figures, and what a program adds
  /// (scenarios/kernels/kernel_time.h).
  struct Kernels {
    /// Of the peak, by large products without and with a window.
    struct Shares {
      double matrix = 0;
      double convolution = 0;
    };
    int multiprocessors = 1;
    std::map<std::string, Shares> shares;  ///< by precision, for each that has a peak
    double winograd = 1;                   ///< gain of 3 x 3 convolutions of stride 1 in fp32
    double memory = 1;                     ///< share of the memory's bandwidth
    double tile = 0;      ///< tiles a multiprocessor at which half of a share is reached
    double traffic = 1;   ///< multiple of the counted traffic of what memory bounds
    double update = 1;    ///< the same of the optimiser
    Seconds host{0};      ///< the host's time to launch a kernel
    Seconds step{0};      ///< of a step: input, scalars, synchronisation
    Seconds parallel{0};  ///< of a step of several workers
  };

  /// The machine that the device is in, for state that lies there.
  struct Host {
    double link_bytes_per_second = 0;  ///< between device and host, each way
    double memory_bytes_per_second = 0;
  };

  ProfileOrigin origin;
  std::map<std::string, Model> models;
  std::map<std::string, Codec> codecs;
  Cost error_feedback;       ///< what it adds to encoding
  Cost momentum_correction;  ///< the same
  std::optional<Peak> peak;
  std::optional<Kernels> kernels;  ///< without: one efficiency for all products
  std::optional<Host> host;
};

/// A model as a table of layers, in forward order. A layer has times of its own, or counts from
/// which a device's peak figures give them (scenarios/profiles/layer_times.h). Counts are of one
/// sample.
struct WorkloadProfile {
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
  };
  struct Layer {
    std::string name;
    std::string kind;             ///< in words; nothing is decided by it
    std::int64_t elements = 0;    ///< trainable parameters; 0 = it only takes time
    std::vector<Tensor> tensors;  ///< of which there are so many; empty = one tensor, no shape
    bool has_times = false;
    Seconds forward_per_sample{0};
    Seconds backward_per_sample{0};
    double spread = 0;  ///< of measured times: relative interquartile range of both passes' sum
    std::int64_t flops = 0;        ///< of the forward pass, two for a multiply-add
    std::int64_t inputs = 0;       ///< elements of activations that it reads
    std::int64_t activations = 0;  ///< elements of activations that it writes
  };

  ProfileOrigin origin;
  std::vector<Layer> layers;
  std::optional<Seconds> update;  ///< optimiser, all parameters
  std::int64_t elements() const;
};

/// A shipped profile's name, or a path (it contains "/" or ends in ".json") seen from the folder of
/// the file `relative_to`. Throws Error (unknown name, with the nearest) or ScenarioError (bad
/// file).
DeviceProfile load_device_profile(std::string_view name_or_path, const std::string& relative_to);
WorkloadProfile load_workload_profile(std::string_view name_or_path,
                                      const std::string& relative_to);

/// Names of the shipped profiles of a kind: "device" or "workload".
std::vector<std::string> shipped_profiles(std::string_view kind);

}  // namespace gradwire::scenarios
