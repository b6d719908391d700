// PCI clock: target of configuration accesses (type 0, function 0, one data
// phase, medium DEVSEL#). Not touched by the soft reset, which comes as one of
// its accesses.
module ddc_target (
    input  wire        clk,
    input  wire        rst_n,
    // bus as sampled
    input  wire [31:0] ad,
    input  wire [3:0]  cbe_n,
    input  wire        frame_n,
    input  wire        irdy_n,
    input  wire        idsel,
    input  wire        own,           // the transfer on the bus is the master's
    input  wire        parity_wrong,  // of the address sampled one clock ago
    // bus as driven
    output reg         ad_oe,
    output reg  [31:0] ad_out,
    output reg         ack_oe,        // TRDY#, DEVSEL#, STOP# are driven
    output reg         trdy_n,
    output reg         devsel_n,
    output reg         stop_n,
    // registers
    output wire [5:0]  reg_index,
    input  wire [31:0] reg_value,     // after this edge's events
    output wire        reg_write,
    output wire [31:0] reg_data,
    output wire [3:0]  reg_be,
    output wire        address_seen   // an address of another master
);
  localparam [1:0] IDLE = 0, DECODE = 1, DATA = 2, DISCONNECT = 3;
  reg [1:0] state;
  reg       frame_was_n;
  reg       write;
  reg [5:0] index;

  wire address = !frame_n && frame_was_n && !own;
  wire mine = address && idsel && cbe_n[3:1] == 3'b101 && ad[1:0] == 2'b00 && ad[10:8] == 3'd0;
  wire moved = state == DATA && !irdy_n && !trdy_n;

  assign address_seen = address;
  assign reg_index = index;
  assign reg_write = moved && write;
  assign reg_data  = ad;
  assign reg_be    = ~cbe_n;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state       <= IDLE;
      frame_was_n <= 1;
      write       <= 0;
      index       <= 0;
      ad_oe       <= 0;
      ad_out      <= 0;
      ack_oe      <= 0;
      trdy_n      <= 1;
      devsel_n    <= 1;
      stop_n      <= 1;
    end else begin
      frame_was_n <= frame_n;
      ack_oe      <= 0;
      ad_oe       <= 0;
      trdy_n      <= 1;
      devsel_n    <= 1;
      stop_n      <= 1;
      case (state)
        IDLE:
        if (mine) begin
          state <= DECODE;
          write <= cbe_n[0];
          index <= ad[7:2];
        end
        DECODE:
        if (parity_wrong) state <= IDLE;
        else begin
          state    <= DATA;
          ack_oe   <= 1;
          devsel_n <= 0;
          trdy_n   <= 0;
          stop_n   <= frame_n;         // a burst gets one word
          ad_oe    <= !write;
          ad_out   <= reg_value;
        end
        DATA, DISCONNECT: begin
          ack_oe <= 1;
          if (state == DATA && irdy_n) begin
            devsel_n <= 0;
            trdy_n   <= 0;
            stop_n   <= stop_n;
            ad_oe    <= !write;
          end else if (frame_n) state <= IDLE;  // all driven high for one clock
          else begin
            state    <= DISCONNECT;             // the initiator wants more
            devsel_n <= 0;
            stop_n   <= 0;
          end
        end
        default: ;
      endcase
    end
endmodule
