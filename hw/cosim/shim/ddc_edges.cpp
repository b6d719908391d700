// The network controller with its default parameters.
#include "Vddc_edges.h"
#define TOP Vddc_edges
#include "ddc_pins.h"

SHIM(ddc_edges, Vddc_edges, In, Out)
