#pragma once
#include <span>

#include "trainers/layout.h"
#include "trainers/passes/replica.h"

/// Loops over all elements of a model, in a source that is compiled for the vectoriser: written
/// where they are needed they cost a small model several hundredths of a pass.
namespace gradwire::trainers {

/// Precondition: gradients.on_host().
bool all_finite(const Gradients& gradients);
bool all_finite(std::span<const float> values);

/// flat = the gradients, in layout order; true if all of them are finite. flat has
/// layout.elements() elements. Precondition: gradients.on_host().
bool copy_finite(const Gradients& gradients, const Layout& layout, std::span<float> flat);

/// difference = from - the gradients, and sum += the gradients, all in layout order; true if all of
/// the gradients are finite. Precondition: gradients.on_host().
bool subtract_gradients(std::span<const float> from, const Gradients& gradients,
                        const Layout& layout, std::span<float> difference);
bool add_gradients(const Gradients& gradients, const Layout& layout, std::span<float> sum);

/// difference = from - minus, all of one size; true if all of it is finite.
bool subtract_finite(std::span<const float> from, std::span<const float> minus,
                     std::span<float> difference);

/// gradient += mu (weights - centre), all of one size.
void add_proximal(std::span<float> gradient, float mu, std::span<const float> weights,
                  std::span<const float> centre);

}  // namespace gradwire::trainers
