#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

/// Profiles: figures that stand in for what is not measured here. They are data, with an honest
/// source; closed objects, read by tables as scenarios are. Times in the files are plain numbers of
/// seconds whose keys end in "_s", as `calibrate` writes them.
namespace gradwire::scenarios {

/// Where a profile's figures come from: "measured", "published", "assumed".
struct ProfileOrigin {
  std::string name;
  std::string source;
  std::string note;  ///< machine, paper, or how it was assumed
  std::string file;
};

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

  ProfileOrigin origin;
  std::map<std::string, Model> models;
  std::map<std::string, Codec> codecs;
};

/// A model as a table of layers, in forward order. Time of a pass = batch * sum of its layers.
struct WorkloadProfile {
  struct Layer {
    std::string name;
    std::int64_t elements = 0;  ///< trainable parameters
    Seconds forward_per_sample{0};
    Seconds backward_per_sample{0};
  };

  ProfileOrigin origin;
  std::vector<Layer> layers;
  Seconds update{0};
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
