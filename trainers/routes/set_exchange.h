#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "trainers/methods/method.h"
#include "trainers/routes/exchange.h"

/// A method's sets of tensors, each carried by an exchange of its own.
namespace gradwire::trainers {

/// A model's tensors as methods choose by them, in forward order. The last layer's share what
/// stands before the last dot of the last parameter's name.
std::vector<methods::TensorInfo> tensor_infos(std::span<const Parameter> parameters);
/// The set of each parameter, in forward order: Layout's.
std::vector<std::size_t> sets_of(const methods::Method& method,
                                 std::span<const Parameter> parameters);

/// What the sets of a method send in a phase. A layout of one set gives that set's exchange itself.
/// `change`: called with the settings of each set's exchange before it is made. Errors as
/// make_exchange.
std::unique_ptr<Exchange> make_set_exchange(
    const scenarios::Scenario& scenario, const methods::Method& method, std::size_t phase,
    const Layout& layout, StateStore& states,
    const std::function<void(ExchangeSettings&)>& change = [](ExchangeSettings&) {});

/// The same of plans by set.
std::unique_ptr<Exchange> make_set_exchange(
    const scenarios::Scenario& scenario, const methods::Method& method,
    const std::function<methods::SetPlan(std::size_t set)>& plan_of, const Layout& layout,
    StateStore& states, const std::function<void(ExchangeSettings&)>& change);

/// The same of exchanges that are there. Parts carry different buckets, all of them together.
std::unique_ptr<Exchange> join_exchanges(std::vector<std::unique_ptr<Exchange>> parts,
                                         std::vector<std::size_t> part_of_bucket,
                                         const Layout& layout);

}  // namespace gradwire::trainers
