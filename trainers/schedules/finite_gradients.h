#pragma once
#include <span>

#include "trainers/layout.h"
#include "trainers/passes/replica.h"

/// Whether every gradient of a pass is finite, looked at in whole blocks: a test of every element
/// alone costs several hundredths of a small model's pass.
namespace gradwire::trainers {

/// Precondition: gradients.on_host().
bool all_finite(const Gradients& gradients);

/// flat = the gradients, in layout order; true if all of them are finite. flat has
/// layout.elements() elements. Precondition: gradients.on_host().
bool copy_finite(const Gradients& gradients, const Layout& layout, std::span<float> flat);

}  // namespace gradwire::trainers
