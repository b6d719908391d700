// One end of an HS link at symbol level: start-up, credit, order of emission
// (hw/doc/hsl.md, "Start-up", "Flow control", "Exceptions").
//
// Everything that leaves by tx_*, taken, store and down is decided in this cycle
// from registers and inputs; the register behind it belongs to who instantiates
// the port (a serialiser, a FIFO).
module hsl_port #(
    parameter RESET_CYCLES     = 4096, // RCUBE node 46
    parameter CALIBRATE_CYCLES = 4096, // RCUBE node 46
    parameter LISTEN_CYCLES    = 3000, // RCUBE node 46
    parameter ACKNOWLEDGES     = 8,
    parameter OPENING_CYCLES   = 8,    // RCUBE node 46
    parameter RESTART_CYCLES   = 16,
    parameter CREDIT_LIMIT     = 64
) (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,      // low: the port is off, at the next edge
    input  wire       parallel,    // strap: FCC is a pulse, no calibration
    input  wire       quick,       // strap for simulation: start-up counts of 1

    // towards the line
    input  wire       offer,       // a symbol waits
    input  wire [8:0] offer_sym,
    output wire       taken,       // it leaves at this edge
    output wire       tx_signal,
    output wire       tx_fcc,      // parallel: sendfcc
    output reg  [8:0] tx_sym,

    // from the line, behind the deserialiser
    input  wire       rx_signal,
    input  wire       rx_fcc,      // parallel: fccreceived
    input  wire [8:0] rx_sym,
    output wire       store,       // rx_sym goes into the input FIFO
    input  wire       freed,       // a symbol leaves the input FIFO

    output wire       up,          // from OPENING on
    output wire       down         // this edge takes it back to RESET
);

    localparam [8:0] FCC = 9'h18b, IDLE = 9'h1ab, REQ = 9'h1c3, ACK = 9'h1e3;

    localparam [2:0] OFF         = 3'd0,
                     RESET       = 3'd1,
                     CALIBRATE   = 3'd2,
                     LISTEN      = 3'd3,
                     REQUEST     = 3'd4,
                     ACKNOWLEDGE = 3'd5,
                     OPENING     = 3'd6,
                     RUN         = 3'd7;

    localparam [12:0] RESET_LAST     = RESET_CYCLES     - 1,
                      CALIBRATE_LAST = CALIBRATE_CYCLES - 1,
                      LISTEN_LAST    = LISTEN_CYCLES    - 1,
                      ACK_LAST       = ACKNOWLEDGES     - 1,
                      OPENING_LAST   = OPENING_CYCLES   - 1,
                      RESTART_LAST   = RESTART_CYCLES   - 1;
    localparam [6:0]  LIMIT          = CREDIT_LIMIT;  // at most 95: 7 bits hold a grant more

    reg [2:0]  phase;
    reg [12:0] count;    // cycles or acknowledges of this phase so far
    reg        seen;     // an ACKNOWLEDGE came in
    reg [6:0]  credit;   // characters that may be sent
    reg [4:0]  flit;     // characters freed since the last FCC was owed
    reg        owed;     // an FCC goes out in the next cycle

    // Send: FCC, then what is offered, then the filler of the phase.
    assign up        = phase >= OPENING;
    assign tx_signal = phase >= LISTEN;

    wire   shakes    = phase == ACKNOWLEDGE;
    wire   send_fcc  = up && owed;

    assign tx_fcc    = send_fcc && parallel;
    assign taken     = up && offer && credit != 7'd0 && (parallel || !send_fcc);

    always @*
        if (!tx_signal)                 tx_sym = 9'd0;
        else if (send_fcc && !parallel) tx_sym = FCC;
        else if (taken)                 tx_sym = offer_sym;
        else if (phase == REQUEST)      tx_sym = REQ;
        else if (shakes)                tx_sym = ACK;
        else                            tx_sym = IDLE;

    // Receive.
    wire       is_fcc     = rx_sym == FCC;
    wire       is_req     = rx_sym == REQ;
    wire       is_ack     = rx_sym == ACK;
    wire       link_level = is_fcc || is_req || is_ack || rx_sym == IDLE;
    // An FCC in ACKNOWLEDGE counts: the other end may be up already.
    wire       got_fcc    = rx_signal && (parallel ? rx_fcc && up : is_fcc && (up || shakes));
    wire [6:0] left       = credit - {6'd0, taken};
    wire [6:0] granted    = got_fcc ? left + 7'd32 : left;
    wire       excess     = granted > LIMIT;

    assign down  = excess || (up && (!rx_signal || (!parallel && is_req)));
    assign store = up && !down && !link_level;

    // Start-up.
    wire       reset_over     = count == (parallel ? RESTART_LAST
                                                   : quick ? 13'd0 : RESET_LAST);
    wire       calibrate_over = count == (quick ? 13'd0 : CALIBRATE_LAST);
    wire       listen_over    = parallel || count == (quick ? 13'd0 : LISTEN_LAST);
    wire       acks_over      = count == ACK_LAST;
    wire       opening_over   = count == OPENING_LAST;
    wire       opens          = phase == LISTEN ? rx_signal && parallel
                              : shakes && rx_signal && acks_over && (seen || is_ack) && !excess;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            phase <= OFF;
            count <= 13'd0;
            seen  <= 1'b0;
        end else if (!enable) begin
            phase <= OFF;
            count <= 13'd0;
            seen  <= 1'b0;
        end else begin
            count <= count + 13'd1;
            case (phase)
                OFF: begin
                    phase <= parallel ? LISTEN : RESET;
                    count <= 13'd0;
                end
                RESET:
                    if (reset_over) begin
                        phase <= parallel ? LISTEN : CALIBRATE;
                        count <= 13'd0;
                    end
                CALIBRATE:
                    if (calibrate_over) begin
                        phase <= LISTEN;
                        count <= 13'd0;
                    end
                LISTEN:
                    if (!rx_signal)
                        count <= 13'd0;
                    else if (listen_over) begin
                        phase <= parallel ? OPENING : REQUEST;
                        count <= 13'd0;
                    end
                REQUEST: begin
                    seen  <= is_ack;
                    count <= 13'd0;
                    if (!rx_signal)
                        phase <= LISTEN;
                    else if (is_req || is_ack)
                        phase <= ACKNOWLEDGE;
                end
                ACKNOWLEDGE: begin
                    seen <= seen || is_ack;
                    if (excess || !rx_signal) begin
                        phase <= excess ? RESET : LISTEN;
                        count <= 13'd0;
                    end else if (opens) begin
                        phase <= OPENING;
                        count <= 13'd0;
                    end else if (acks_over)
                        count <= count;
                end
                OPENING:
                    if (down) begin
                        phase <= RESET;
                        count <= 13'd0;
                    end else if (opening_over)
                        phase <= RUN;
                RUN:
                    if (down) begin
                        phase <= RESET;
                        count <= 13'd0;
                    end
            endcase
        end

    // Credit, and the FCC owed: two while opening, then one per 32 freed. What is
    // owed is always sent in the next cycle, so that one bit is enough.
    wire second    = phase == OPENING && opening_over;
    wire flit_done = freed && flit == 5'd31;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            credit <= 7'd0;
            flit   <= 5'd0;
            owed   <= 1'b0;
        end else if (!enable || down || !(up || shakes)) begin
            credit <= 7'd0;
            flit   <= 5'd0;
            owed   <= enable && opens;
        end else if (up) begin
            credit <= granted;
            flit   <= flit + {4'd0, freed};
            owed   <= second || flit_done;
        end else begin
            // The handshake breaks off without signal, and what was granted is void.
            credit <= rx_signal ? granted : 7'd0;
            owed   <= opens;
        end

endmodule
