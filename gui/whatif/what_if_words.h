#pragma once
#include "gui/whatif/what_if.h"

/// An answer of the closed form in words.
namespace gradwire::gui {

/// "1000 steps: 2.20 GPU h, 41.8 GB, USD 5.55; without compression ..."; empty without an answer.
QString cost_text(const WhatIfAnswer& answer);

/// "compress", "do not compress", "fp16": the verdict's short form.
QString verdict_word(const WhatIfAnswer& answer);

/// Times of a step, the advice and what it rests on, as rich text; empty without an answer.
QString details_text(const WhatIfAnswer& answer);

/// The command that trains what is not known of the accuracy; empty where nothing is to find out.
QString find_out_command(const WhatIfAnswer& answer);

}  // namespace gradwire::gui
