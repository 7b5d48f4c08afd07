#pragma once
#include "trainers/methods/catalogue.h"

/// The rows that are built in, each in the file of its method.
namespace gradwire::methods {

MethodRow dgc_row();
MethodRow mixed_precision_row();
MethodRow rigl_row();
MethodRow qnn_row();
MethodRow admm_row();
MethodRow comet_row();
MethodRow terngrad_row();
MethodRow qsgd_row();
MethodRow qsvrg_row();
MethodRow natural_row();
MethodRow dither_row();
MethodRow fastsgd_row();
MethodRow cgx_row();
MethodRow comp_ams_row();
MethodRow qcmd_row();
MethodRow qrda_row();
MethodRow batch_augmentation_row();
MethodRow stc_row();
MethodRow dhqc_row();
MethodRow zerofl_row();
MethodRow choco_sgd_row();
MethodRow deepsqueeze_row();
MethodRow low_precision_row();
MethodRow aq_sgd_row();

}  // namespace gradwire::methods
