#pragma once
#include <QPalette>

namespace gradwire::gui {

/// The desktop's own colours, or light or dark ones of ours.
enum class ColourScheme { kDesktop, kLight, kDark };

QPalette palette_of(ColourScheme scheme);
/// Sets the program's palette; charts follow.
void apply(ColourScheme scheme);

}  // namespace gradwire::gui
