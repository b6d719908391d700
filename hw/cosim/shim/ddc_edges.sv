// The controller with its two clocks on one: an edge of `clk` is an edge of the
// PCI clock when `pci_edge` is high, else of the link clock. Only for the bench.
module ddc_edges #(
    parameter integer FIFO_WORDS       = 133,
    parameter integer RX_FIFO_WORDS    = 133,
    parameter integer RX_BURST         = 16,
    parameter integer REFILL           = 66,
    parameter integer PACKET_GAP       = 7,
    parameter integer RX_TIMEOUT       = 1 << 20,
    parameter integer LINK_TO_PCI_SYNC = 0
) (
    input  wire        clk,
    input  wire        pci_edge,
    input  wire        rst_n,
    input  wire [31:0] pci_ad,
    input  wire [3:0]  pci_cbe_n,
    input  wire        pci_par,
    input  wire        pci_frame_n,
    input  wire        pci_irdy_n,
    input  wire        pci_trdy_n,
    input  wire        pci_devsel_n,
    input  wire        pci_stop_n,
    input  wire        pci_perr_n,
    input  wire        pci_idsel,
    input  wire        pci_gnt_n,
    output wire [31:0] out_ad,
    output wire        out_ad_oe,
    output wire [3:0]  out_cbe_n,
    output wire        out_cbe_oe,
    output wire        out_par,
    output wire        out_par_oe,
    output wire        out_frame_n,
    output wire        out_frame_oe,
    output wire        out_irdy_n,
    output wire        out_irdy_oe,
    output wire        out_trdy_n,
    output wire        out_trdy_oe,
    output wire        out_devsel_n,
    output wire        out_devsel_oe,
    output wire        out_stop_n,
    output wire        out_stop_oe,
    output wire        out_perr_n,
    output wire        out_perr_oe,
    output wire        out_serr_oe,
    output wire        out_req_n,
    output wire        out_inta_n,
    output wire        chain_strobe,
    output wire [7:0]  chain_byte,
    output wire        r3_init,
    input  wire [7:0]  r3_status,
    input  wire        rx_signal,
    input  wire        rx_fcc,
    input  wire        rx_valid,
    input  wire [8:0]  rx_symbol,
    output wire        tx_signal,
    output wire        tx_fcc,
    output wire        tx_valid,
    output wire [8:0]  tx_symbol
);
  wire clk_pci  = clk && pci_edge;
  wire clk_link = clk && !pci_edge;
  ddc #(
      .FIFO_WORDS(FIFO_WORDS), .RX_FIFO_WORDS(RX_FIFO_WORDS), .RX_BURST(RX_BURST), .REFILL(REFILL),
      .PACKET_GAP(PACKET_GAP), .RX_TIMEOUT(RX_TIMEOUT), .LINK_TO_PCI_SYNC(LINK_TO_PCI_SYNC)
  ) u_ddc (.*);
endmodule
