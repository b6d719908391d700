// One input: FIFO of 64, header, and the state of the packet at its front
// (hw/doc/rcube.md, "One edge, block by block" 3 to 5 and 7, "Exceptions").
module rcube_input (
    input  wire         clk,
    input  wire         rst_n,
    input  wire         enable,

    // routing table of this input, as in the file
    input  wire [127:0] bounds,       // interval 0 first: high byte, low byte
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [127:0] selections,   // interval 7 first: mask, a byte that is ignored
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire         two,          // header of two characters
    input  wire [7:0]   deletion,     // outputs that delete the header

    // from the link
    input  wire         store,
    input  wire [8:0]   store_sym,
    input  wire         link_down,    // this edge takes the link down
    output wire         freed,        // a symbol leaves the FIFO

    // arbitration
    output wire [7:0]   request,      // outputs asked for
    input  wire [7:0]   grant,        // the one given at this edge
    output wire [7:0]   holds,        // the one held
    input  wire [7:0]   full,         // output FIFOs without room
    input  wire [7:0]   output_down,  // this edge takes their link down

    // crossbar
    output wire         push,         // into the output that is held
    output wire [8:0]   push_sym
);

    localparam [8:0] EP = 9'h12b, EEP = 9'h14b;

    localparam [2:0] HEADER  = 3'd0,  // no packet, or not all of its header
                     REQUEST = 3'd1,  // waits for an output; without any eligible: as DROP
                     CIRCUIT = 3'd2,  // streams
                     DROP    = 3'd3,  // runs to its end
                     CLOSE   = 3'd4;  // cut: owes EEP to its output

    reg [2:0] state;
    reg [7:0] outputs;   // eligible in REQUEST, held in CIRCUIT and CLOSE
    reg       drains;    // the output held has lost its link: all vanishes
    reg [1:0] deleting;  // header characters that still vanish

    // The two oldest symbols of the FIFO, and what it holds.
    wire [8:0] first, second;
    wire       empty, many;  // many: two at least

    wire       first_ends  = first == EP || first == EEP;
    wire       second_ends = second == EP || second == EEP;

    // What the symbol at the front does at this edge.
    wire       room  = (outputs & full) == 8'd0;
    wire       moves = state == CIRCUIT && !empty && room;
    wire       stray = state == REQUEST && outputs == 8'd0;
    wire       drops = (state == DROP || stray) && !empty;
    wire       pop   = moves || drops;
    wire       close = state == CLOSE && room;

    assign freed    = pop;
    assign push     = !drains && ((moves && deleting == 2'd0) || close);
    assign push_sym = state == CLOSE ? EEP : first;
    assign request  = state == REQUEST ? outputs : 8'd0;
    assign holds    = state == CIRCUIT || state == CLOSE ? outputs : 8'd0;

    // Interval compare. A control character counts with its low 8 bits.
    wire [2:0] interval;
    wire [7:0] eligible = selections[{~interval, 4'd0} +: 8];
    wire       whole    = two ? many : !empty;
    wire       short    = first_ends || (two && many && second_ends);

    rcube_interval compare (
        .bounds   (bounds),
        .header   ({first[7:0], second[7:0]}),
        .two      (two),
        .interval (interval)
    );

    // The state after this edge, exceptions aside.
    reg [2:0] then;
    reg [7:0] then_outputs;

    always @* begin
        then         = state;
        then_outputs = outputs;
        case (state)
            HEADER:
                if (!empty && short)
                    then = DROP;
                else if (whole) begin
                    then         = REQUEST;
                    then_outputs = eligible;
                end
            REQUEST:
                if (stray)
                    then = DROP;
                else if (grant != 8'd0) begin
                    then         = CIRCUIT;
                    then_outputs = grant;
                end
            CIRCUIT: if (moves && first_ends) then = HEADER;
            DROP:    if (drops && first_ends) then = HEADER;
            default: if (close)               then = HEADER;  // CLOSE
        endcase
    end

    // A circuit lasts to the end of its packet, or to the EEP, also when there is
    // no link behind it any more.
    wire holding = then == CIRCUIT || then == CLOSE;
    wire lost    = (then_outputs & output_down) != 8'd0;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            state    <= HEADER;
            outputs  <= 8'd0;
            drains   <= 1'b0;
            deleting <= 2'd0;
        end else if (!enable) begin
            state    <= HEADER;
            outputs  <= 8'd0;
            drains   <= 1'b0;
            deleting <= 2'd0;
        end else begin
            state   <= !link_down ? then : holding ? CLOSE : HEADER;
            outputs <= then_outputs;
            drains  <= holding && (drains || lost);
            if (state == REQUEST)
                deleting <= (grant & deletion) == 8'd0 ? 2'd0 : two ? 2'd2 : 2'd1;
            else if (moves && deleting != 2'd0)
                deleting <= deleting - 2'd1;
        end

    rcube_fifo fifo (
        .clk       (clk),
        .rst_n     (rst_n),
        .enable    (enable),
        .flush     (link_down),
        .store     (store),
        .store_sym (store_sym),
        .pop       (pop),
        .first     (first),
        .second    (second),
        .empty     (empty),
        .many      (many)
    );

endmodule
