// RCUBE: the 8x8 router (hw/doc/rcube.md; hw/doc/rtl-rcube.md walks one cycle).
module rcube (
    input  wire        clk,
    input  wire        rst_n,

    // straps
    input  wire [7:0]  parallel,    // bit k: port k has no serialiser
    input  wire        quick,       // for simulation: start-up counts of 1

    // configuration, from PCI-DDC
    input  wire        r3_init,
    input  wire        r3_strobe,
    input  wire [7:0]  r3_dout,

    // links: bit k, or 9 bits at 9k
    input  wire [7:0]  in_signal,
    input  wire [7:0]  in_fcc,
    input  wire [71:0] in_sym,
    output wire [7:0]  out_signal,
    output wire [7:0]  out_fcc,
    output wire [71:0] out_sym,
    output wire [7:0]  link_status
);

    // The routing table is the chain as it stands; byte n of the file at 8n.
    wire [2063:0] bytes;
    wire [7:0]    deletion = bytes[8*128 +: 8];  // bit k: output k
    wire [7:0]    two      = bytes[8*129 +: 8];  // bit k: header of input k has two characters

    rcube_chain chain (
        .clk       (clk),
        .rst_n     (rst_n),
        .r3_init   (r3_init),
        .r3_strobe (r3_strobe),
        .r3_dout   (r3_dout),
        .bytes     (bytes)
    );

    // The edge that sees R3_INIT high first only starts the link ports; the
    // other blocks are in reset up to and including it.
    reg  running;
    wire run = running && r3_init;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) running <= 1'b0;
        else        running <= r3_init;

    // Per port, bit k; rows of the matrices at 8k.
    wire [7:0]  up, down, freed, store, taken, full, offer, push;
    wire [7:0]  rx_signal, rx_fcc, tx_signal, tx_fcc;
    wire [71:0] rx_sym, tx_sym, offer_sym, push_sym;
    wire [63:0] request, grant, holds;

    assign link_status = (up & ~parallel) | (parallel & {8{running}});

    // An output is free when no input holds it and its link is up.
    reg [7:0] held;
    integer   h;

    always @* begin
        held = 8'd0;
        for (h = 0; h < 8; h = h + 1) held = held | holds[8*h +: 8];
    end

    rcube_arbiter arbiter (
        .clk     (clk),
        .rst_n   (rst_n),
        .enable  (run),
        .request (request),
        .free    (up & ~held),
        .grant   (grant)
    );

    // Crossbar: the symbol of the one input that holds the output and pushes.
    reg [7:0]  cross_push;
    reg [71:0] cross_sym;
    integer    i, o;

    always @* begin
        cross_push = 8'd0;
        cross_sym  = 72'd0;
        for (o = 0; o < 8; o = o + 1)
            for (i = 0; i < 8; i = i + 1)
                if (push[i] && holds[8*i + o]) begin
                    cross_push[o]       = 1'b1;
                    cross_sym[9*o +: 9] = cross_sym[9*o +: 9] | push_sym[9*i +: 9];
                end
    end

    genvar k;
    generate
        for (k = 0; k < 8; k = k + 1) begin : port
            // Even links in the first half of the file, odd ones in the second;
            // bounds ascend by link, selections descend.
            localparam BOUNDS     = (k % 2) * 130 + 16 * (k / 2);
            localparam SELECTIONS = (k % 2) * 130 + 64 + 16 * (3 - k / 2);

            hsl_deserialiser deserialiser (
                .clk       (clk),
                .rst_n     (rst_n),
                .enable    (run),
                .parallel  (parallel[k]),
                .in_signal (in_signal[k]),
                .in_fcc    (in_fcc[k]),
                .in_sym    (in_sym[9*k +: 9]),
                .rx_signal (rx_signal[k]),
                .rx_fcc    (rx_fcc[k]),
                .rx_sym    (rx_sym[9*k +: 9])
            );

            hsl_port link (
                .clk       (clk),
                .rst_n     (rst_n),
                .enable    (r3_init),
                .parallel  (parallel[k]),
                .quick     (quick),
                .offer     (offer[k]),
                .offer_sym (offer_sym[9*k +: 9]),
                .taken     (taken[k]),
                .tx_signal (tx_signal[k]),
                .tx_fcc    (tx_fcc[k]),
                .tx_sym    (tx_sym[9*k +: 9]),
                .rx_signal (rx_signal[k]),
                .rx_fcc    (rx_fcc[k]),
                .rx_sym    (rx_sym[9*k +: 9]),
                .store     (store[k]),
                .freed     (freed[k]),
                .up        (up[k]),
                .down      (down[k])
            );

            hsl_serialiser serialiser (
                .clk        (clk),
                .rst_n      (rst_n),
                .enable     (run),
                .parallel   (parallel[k]),
                .tx_signal  (tx_signal[k]),
                .tx_fcc     (tx_fcc[k]),
                .tx_sym     (tx_sym[9*k +: 9]),
                .out_signal (out_signal[k]),
                .out_fcc    (out_fcc[k]),
                .out_sym    (out_sym[9*k +: 9])
            );

            rcube_input entry (
                .clk         (clk),
                .rst_n       (rst_n),
                .enable      (run),
                .bounds      (bytes[8*BOUNDS +: 128]),
                .selections  (bytes[8*SELECTIONS +: 128]),
                .two         (two[k]),
                .deletion    (deletion),
                .store       (store[k]),
                .store_sym   (rx_sym[9*k +: 9]),
                .link_down   (down[k]),
                .freed       (freed[k]),
                .request     (request[8*k +: 8]),
                .grant       (grant[8*k +: 8]),
                .holds       (holds[8*k +: 8]),
                .full        (full),
                .output_down (down),
                .push        (push[k]),
                .push_sym    (push_sym[9*k +: 9])
            );

            rcube_output exit (
                .clk       (clk),
                .rst_n     (rst_n),
                .enable    (run),
                .link_down (down[k]),
                .push      (cross_push[k]),
                .push_sym  (cross_sym[9*k +: 9]),
                .taken     (taken[k]),
                .full      (full[k]),
                .offer     (offer[k]),
                .offer_sym (offer_sym[9*k +: 9])
            );
        end
    endgenerate

endmodule
