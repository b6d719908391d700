// The model of RCUBE as a module: the ports of hw/rtl/rcube/rcube.sv, so that either can
// stand in a bench. Needs multipc_dpi.c and libmultipc_capi.
module rcube_model (
    input  wire        clk,
    input  wire        rst_n,

    // straps
    input  wire [7:0]  parallel,    // bit k: port k has no serialiser
    input  wire        quick,       // start-up counts of 1

    // configuration, from PCI-DDC
    input  wire        r3_init,
    input  wire        r3_strobe,
    input  wire [7:0]  r3_dout,

    // links: bit k, or 9 bits at 9k
    input  wire [7:0]  in_signal,
    input  wire [7:0]  in_fcc,
    input  wire [71:0] in_sym,
    output reg  [7:0]  out_signal,
    output reg  [7:0]  out_fcc,
    output reg  [71:0] out_sym,
    output reg  [7:0]  link_status
);

    import "DPI-C" function chandle multipc_dpi_rcube_new(
        input bit [7:0] parallel,
        input bit       quick
    );
    import "DPI-C" function void multipc_dpi_rcube_free(input chandle rcube);
    import "DPI-C" function void multipc_dpi_rcube_step(
        input  chandle    rcube,
        input  bit        r3_init,
        input  bit        r3_strobe,
        input  bit [7:0]  r3_dout,
        input  bit [7:0]  in_signal,
        input  bit [7:0]  in_fcc,
        input  bit [71:0] in_sym,
        output bit [7:0]  out_signal,
        output bit [7:0]  out_fcc,
        output bit [71:0] out_sym,
        output bit [7:0]  link_status
    );

    chandle    rcube = null;
    bit [7:0]  next_signal, next_fcc, next_status;
    bit [71:0] next_sym;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            multipc_dpi_rcube_free(rcube);
            // Reset makes a new router at once: the handle is no register.
            // verilator lint_off BLKSEQ
            rcube = multipc_dpi_rcube_new(parallel, quick);
            // verilator lint_on BLKSEQ
            out_signal  <= 8'd0;
            out_fcc     <= 8'd0;
            out_sym     <= 72'd0;
            link_status <= 8'd0;
        end else if (rcube != null) begin
            multipc_dpi_rcube_step(
                rcube, r3_init, r3_strobe, r3_dout, in_signal, in_fcc, in_sym,
                next_signal, next_fcc, next_sym, next_status
            );
            out_signal  <= next_signal;
            out_fcc     <= next_fcc;
            out_sym     <= next_sym;
            link_status <= next_status;
        end

    final multipc_dpi_rcube_free(rcube);

endmodule
