// The network controller with small FIFOs and a short timeout.
#include "Vddc_small.h"
#define TOP Vddc_small
#include "ddc_pins.h"

SHIM(ddc_small, Vddc_small, In, Out)
