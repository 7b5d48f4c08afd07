#pragma once
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/checks/combinations.h"
#include "scenarios/checks/executor_checks.h"
#include "scenarios/methods.h"
#include "trainers/updates/catalogue.h"

/// What the table of combinations asks of scenarios; for combinations_*.cc alone.
namespace gradwire::scenarios::combined {

using Protocol = sim::TransportSettings::Protocol;
using Places = std::vector<std::string>;

/// Those of one file, as combinations() joins them.
std::span<const Combination> schedule_combinations();
std::span<const Combination> method_combinations();
std::span<const Combination> executor_combinations();

Places at(std::string pointer, bool meets);
bool trains(const Scenario& scenario);
/// Of training, with a server that talks to each client.
bool by_server(const Scenario& scenario);
bool is_kind(const Scenario& scenario, const char* kind);
bool gossips(const Scenario& scenario);
bool pipelines(const Scenario& scenario);
/// Workers that gossip use late neighbours as they last were.
bool is_late(const Scenario& scenario);
bool has_local_steps(const Scenario& scenario);
bool corrects_momentum(const Scenario& scenario);
bool sums_gradients(const Scenario& scenario);
bool has_phases(const Scenario& scenario);
bool acts_on_model(const Scenario& scenario);
bool loses(const Scenario& scenario);
/// A method all of whose workers must know the same mean, or the server's own weights.
bool needs_all(const Scenario& scenario);
/// A method that a schedule other than plain lockstep would leave out a part of.
bool has_steps_of_its_own(const Scenario& scenario);
bool runs_tcp(const Scenario& scenario);
bool is_by(const Scenario& scenario, std::initializer_list<std::string_view> executors);
/// Links that no emulated link can be.
Places shared_media(const Scenario& scenario);

inline constexpr std::array<std::string_view, 3> kOfSchedule = {"/schedule", "/exchange",
                                                                "/executor"};
inline constexpr std::array<std::string_view, 3> kOfClients = {"/schedule", "/cluster/workers",
                                                               "/workload"};
inline constexpr std::array<std::string_view, 3> kOfTransport = {"/schedule", "/network",
                                                                 "/executor"};
inline constexpr std::array<std::string_view, 3> kOfTransportAndCollective = {
    "/network", "/exchange", "/workload"};
inline constexpr std::array<std::string_view, 3> kOfTransportAndMethod = {"/network", "/method",
                                                                          "/executor"};
inline constexpr std::array<std::string_view, 3> kOfWorkers = {"/cluster", "/method", "/workload"};
inline constexpr std::array<std::string_view, 3> kOfMethod = {"/schedule", "/method", "/workload"};
inline constexpr std::array<std::string_view, 3> kOfStateParts = {"/exchange", "/method",
                                                                  "/workload"};
inline constexpr std::array<std::string_view, 3> kOfExecutor = {"/executor", "/network",
                                                                "/cluster"};

}  // namespace gradwire::scenarios::combined
