#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bridge/recording.h"

/// What has to be known of all ranks' traces before one of them is read.
namespace gradwire::bridge::chakra {

class RankTrace;

/// Ranks by the name of their group.
using Groups = std::map<std::string, std::vector<int>>;

/// Of a folder's *.json that say who is in a group, as ASTRA-sim's comm_group.json does:
/// {"0": [0, 1], "1": [2, 3]}; `other`: the *.json that do not. Throws Error(kFailure) for ranks
/// beyond `world`, or files that do not agree.
Groups groups_in(const std::string& folder, int world, std::vector<std::string>& other);

/// Looks through the traces of all ranks.
class Survey {
 public:
  explicit Survey(int world) : world_(world) {}

  void add(const RankTrace& trace, int rank);

  /// Members of groups that calls name and nobody describes: all that call in it; of the only group
  /// there is, or one without a name, all ranks. `notes`: what was taken for granted.
  void complete(Groups& groups, std::vector<std::string>& notes) const;

  /// Computing nodes that tell operations (num_ops) and no duration, where all that tell something
  /// do; else 0. Throws Error(kFailure) naming `folder` where some tell a duration.
  std::int64_t counted(const std::string& folder) const;
  /// What else stands in the traces and makes no difference.
  void note_unused(std::vector<std::string>& notes) const;

 private:
  int world_;
  std::map<std::string, std::set<int>> callers_;
  std::int64_t timed_ = 0, counted_ = 0, both_ = 0, silent_ = 0;  ///< nodes that compute
  std::int64_t silent_memory_ = 0, sized_ = 0;
};

}  // namespace gradwire::bridge::chakra
