// A board of models as a module: host bridge, memory, PCI-DDC, RCUBE. Its pins are the ports
// 1 to 7 of the router, INTA#, and configuration accesses of a CPU. Needs multipc_dpi.c and
// libmultipc_capi.
//
// Edges of both clocks in one time step come in no certain order: keep them apart.
module board_model #(
    parameter integer MEMORY_BYTES = 1 << 20    // from physical address 0 on
) (
    input  wire        clk_pci,
    input  wire        clk_link,
    input  wire        rst_n,

    // configuration accesses, on the PCI clock: `start` for one clock while none runs; `done`
    // for one clock when it is over, with what was read
    input  wire        cfg_start,
    input  wire        cfg_write,
    input  wire [7:0]  cfg_offset,
    input  wire [31:0] cfg_wdata,
    output reg         cfg_done,
    output reg  [31:0] cfg_rdata,
    output reg         inta_n,
    output reg         req_n,

    // links: bit k, or 9 bits at 9k; port 0 is the controller's
    // verilator lint_off UNUSEDSIGNAL
    input  wire [7:0]  in_signal,
    input  wire [71:0] in_sym,
    // verilator lint_on UNUSEDSIGNAL
    output reg  [7:0]  out_signal,
    output reg  [71:0] out_sym,
    output reg  [7:0]  link_status
);

    import "DPI-C" function chandle multipc_dpi_board_new(input int unsigned bytes);
    import "DPI-C" function void multipc_dpi_board_free(input chandle board);
    import "DPI-C" function void multipc_dpi_board_pci(
        input  chandle      board,
        input  bit          start,
        input  bit          write,
        input  int unsigned offset,
        input  int unsigned wdata,
        output int unsigned done,
        output int unsigned rdata,
        output bit [1:0]    pins
    );
    import "DPI-C" function void multipc_dpi_board_link(
        input  chandle    board,
        input  bit [7:0]  in_signal,
        input  bit [71:0] in_sym,
        output bit [7:0]  out_signal,
        output bit [71:0] out_sym,
        output bit [7:0]  link_status
    );
    import "DPI-C" function int unsigned multipc_dpi_board_peek(
        input chandle      board,
        input int unsigned addr
    );
    import "DPI-C" function void multipc_dpi_board_poke(
        input chandle      board,
        input int unsigned addr,
        input int unsigned word
    );

    chandle      board = null;
    int unsigned next_done, next_rdata;
    bit [1:0]    next_pins;
    bit [7:0]    next_signal, next_status;
    bit [71:0]   next_sym;

    // The word of the memory at `addr`, a multiple of 4; takes no time.
    function automatic [31:0] peek(input int unsigned addr);
        peek = multipc_dpi_board_peek(board, addr);
    endfunction

    // Writes it.
    function automatic void poke(input int unsigned addr, input int unsigned word);
        multipc_dpi_board_poke(board, addr, word);
    endfunction

    always @(posedge clk_pci or negedge rst_n)
        if (!rst_n) begin
            multipc_dpi_board_free(board);
            // Reset makes a new board at once, its memory 0: the handle is no register.
            // verilator lint_off BLKSEQ
            board = multipc_dpi_board_new(MEMORY_BYTES);
            // verilator lint_on BLKSEQ
            cfg_done  <= 1'b0;
            cfg_rdata <= 32'd0;
            inta_n    <= 1'b1;
            req_n     <= 1'b1;
        end else if (board != null) begin
            multipc_dpi_board_pci(
                board, cfg_start, cfg_write, {24'd0, cfg_offset}, cfg_wdata,
                next_done, next_rdata, next_pins
            );
            cfg_done  <= next_done != 0;
            cfg_rdata <= next_rdata;
            inta_n    <= next_pins[0];
            req_n     <= next_pins[1];
        end

    always @(posedge clk_link or negedge rst_n)
        if (!rst_n) begin
            out_signal  <= 8'd0;
            out_sym     <= 72'd0;
            link_status <= 8'd0;
        end else if (board != null) begin
            multipc_dpi_board_link(
                board, in_signal, in_sym, next_signal, next_sym, next_status
            );
            out_signal  <= next_signal;
            out_sym     <= next_sym;
            link_status <= next_status;
        end

    final multipc_dpi_board_free(board);

endmodule
