#pragma once
#include "base/serial.h"
#include "trainers/trainer_error.h"
