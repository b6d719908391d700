// The network controller, both clocks on one (`pci_edge` says which). The file
// that includes this defines TOP, the class of the Verilated top.
#include "shim.h"

struct In {
    uint32_t ad;
    uint8_t pci_edge, rst_n;
    uint8_t cbe_n, par, frame_n, irdy_n, trdy_n, devsel_n, stop_n, perr_n, idsel, gnt_n;
    uint8_t r3_status;
    uint8_t rx_signal, rx_fcc, rx_valid;
    uint16_t rx_symbol;
};

struct Out {
    uint32_t ad;
    uint8_t ad_oe, cbe_n, cbe_oe, par, frame, irdy, trdy, devsel, stop, perr, serr;
    uint8_t req_n, inta_n, chain, r3_init;
    uint8_t tx_signal, tx_fcc, tx_valid;
    uint16_t chain_byte, tx_symbol;
};

// A control line: 0 asserted, 1 driven high, 2 released.
static uint8_t line(bool oe, bool value) { return oe ? value : 2; }

static void drive(TOP &top, const In &in) {
    top.pci_edge = in.pci_edge;
    top.rst_n = in.rst_n;
    top.pci_ad = in.ad;
    top.pci_cbe_n = in.cbe_n;
    top.pci_par = in.par;
    top.pci_frame_n = in.frame_n;
    top.pci_irdy_n = in.irdy_n;
    top.pci_trdy_n = in.trdy_n;
    top.pci_devsel_n = in.devsel_n;
    top.pci_stop_n = in.stop_n;
    top.pci_perr_n = in.perr_n;
    top.pci_idsel = in.idsel;
    top.pci_gnt_n = in.gnt_n;
    top.r3_status = in.r3_status;
    top.rx_signal = in.rx_signal;
    top.rx_fcc = in.rx_fcc;
    top.rx_valid = in.rx_valid;
    top.rx_symbol = in.rx_symbol;
}

static void sample(const TOP &top, Out &out) {
    out.ad_oe = top.out_ad_oe;
    out.ad = top.out_ad_oe ? top.out_ad : 0;
    out.cbe_oe = top.out_cbe_oe;
    out.cbe_n = top.out_cbe_oe ? top.out_cbe_n : 0;
    out.par = line(top.out_par_oe, top.out_par);
    out.frame = line(top.out_frame_oe, top.out_frame_n);
    out.irdy = line(top.out_irdy_oe, top.out_irdy_n);
    out.trdy = line(top.out_trdy_oe, top.out_trdy_n);
    out.devsel = line(top.out_devsel_oe, top.out_devsel_n);
    out.stop = line(top.out_stop_oe, top.out_stop_n);
    out.perr = line(top.out_perr_oe, top.out_perr_n);
    out.serr = line(top.out_serr_oe, 0);
    out.req_n = top.out_req_n;
    out.inta_n = top.out_inta_n;
    out.chain = top.chain_strobe;
    out.chain_byte = top.chain_strobe ? top.chain_byte : 0;
    out.r3_init = top.r3_init;
    out.tx_signal = top.tx_signal;
    out.tx_fcc = top.tx_fcc;
    out.tx_valid = top.tx_valid;
    out.tx_symbol = top.tx_valid ? top.tx_symbol : 0;
}
