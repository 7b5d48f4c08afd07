#pragma once
#include "trainers/methods/catalogue.h"

/// The rows that are built in, each in the file of its method.
namespace gradwire::methods {

MethodRow dgc_row();
MethodRow mixed_precision_row();
MethodRow rigl_row();
MethodRow terngrad_row();

}  // namespace gradwire::methods
