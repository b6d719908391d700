// The model of PCI-DDC as a module: the ports of hw/rtl/ddc/ddc.sv, so that either can stand
// in a bench. Needs multipc_dpi.c and libmultipc_capi.
//
// Edges of both clocks in one time step come in no certain order: keep them apart where a
// cycle between the two sides counts.
module ddc_model (
    input  wire        clk_pci,
    input  wire        clk_link,
    input  wire        rst_n,

    // PCI, as sampled
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

    // PCI, as driven: value and output enable
    output reg  [31:0] out_ad,
    output reg         out_ad_oe,
    output reg  [3:0]  out_cbe_n,
    output reg         out_cbe_oe,
    output reg         out_par,
    output reg         out_par_oe,
    output reg         out_frame_n,
    output reg         out_frame_oe,
    output reg         out_irdy_n,
    output reg         out_irdy_oe,
    output reg         out_trdy_n,
    output reg         out_trdy_oe,
    output reg         out_devsel_n,
    output reg         out_devsel_oe,
    output reg         out_stop_n,
    output reg         out_stop_oe,
    output reg         out_perr_n,
    output reg         out_perr_oe,
    output reg         out_serr_oe,
    output reg         out_req_n,
    output reg         out_inta_n,

    // router: configuration chain and status
    output reg         chain_strobe,
    output reg  [7:0]  chain_byte,
    output reg         r3_init,
    input  wire [7:0]  r3_status,

    // parallel port
    input  wire        rx_signal,
    input  wire        rx_fcc,
    input  wire        rx_valid,
    input  wire [8:0]  rx_symbol,
    output reg         tx_signal,
    output reg         tx_fcc,
    output reg         tx_valid,
    output reg  [8:0]  tx_symbol
);

    import "DPI-C" function chandle multipc_dpi_ddc_new();
    import "DPI-C" function void multipc_dpi_ddc_free(input chandle ddc);
    // Flags and small fields in one word each way, as this module lays them out.
    import "DPI-C" function void multipc_dpi_ddc_pci(
        input  chandle      ddc,
        input  int unsigned ad,
        input  int unsigned pins,
        output int unsigned driven_ad,
        output int unsigned driven_ad_oe,
        output int unsigned driven
    );
    // A line: symbol, valid, fcc, signal.
    import "DPI-C" function void multipc_dpi_ddc_link(
        input  chandle      ddc,
        input  int unsigned line,
        output bit [11:0]   driven
    );

    chandle      ddc = null;
    int unsigned next_ad, next_oe, next_pins;
    bit [11:0]   next_line;

    always @(posedge clk_pci or negedge rst_n)
        if (!rst_n) begin
            multipc_dpi_ddc_free(ddc);
            // Reset makes a new chip at once: the handle is no register.
            // verilator lint_off BLKSEQ
            ddc = multipc_dpi_ddc_new();
            // verilator lint_on BLKSEQ
            out_ad <= 32'hFFFF_FFFF;
            out_ad_oe <= 1'b0;
            {out_cbe_oe, out_cbe_n} <= 5'h0F;
            {out_par_oe, out_par} <= 2'b01;
            {out_frame_oe, out_frame_n, out_irdy_oe, out_irdy_n} <= 4'b0101;
            {out_trdy_oe, out_trdy_n, out_devsel_oe, out_devsel_n} <= 4'b0101;
            {out_stop_oe, out_stop_n, out_perr_oe, out_perr_n} <= 4'b0101;
            out_serr_oe <= 1'b0;
            {out_req_n, out_inta_n} <= 2'b11;
            {chain_strobe, chain_byte, r3_init} <= 10'd0;
        end else if (ddc != null) begin
            multipc_dpi_ddc_pci(
                ddc, pci_ad,
                {8'd0, r3_status, 3'd0, pci_gnt_n, pci_idsel, pci_perr_n, pci_stop_n,
                 pci_devsel_n, pci_trdy_n, pci_irdy_n, pci_frame_n, pci_par, pci_cbe_n},
                next_ad, next_oe, next_pins
            );
            out_ad <= next_ad;
            out_ad_oe <= next_oe != 0;
            {chain_byte, r3_init, chain_strobe, out_inta_n, out_req_n, out_serr_oe,
             out_perr_oe, out_perr_n, out_stop_oe, out_stop_n, out_devsel_oe, out_devsel_n,
             out_trdy_oe, out_trdy_n, out_irdy_oe, out_irdy_n, out_frame_oe, out_frame_n,
             out_par_oe, out_par, out_cbe_oe, out_cbe_n} <= next_pins;
        end

    always @(posedge clk_link or negedge rst_n)
        if (!rst_n)
            {tx_signal, tx_fcc, tx_valid, tx_symbol} <= 12'd0;
        else if (ddc != null) begin
            multipc_dpi_ddc_link(
                ddc, {20'd0, rx_signal, rx_fcc, rx_valid, rx_symbol}, next_line
            );
            {tx_signal, tx_fcc, tx_valid, tx_symbol} <= next_line;
        end

    final multipc_dpi_ddc_free(ddc);

endmodule
