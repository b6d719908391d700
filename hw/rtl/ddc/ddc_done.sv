// PCI clock: completion of packets: packet counter (LRM) with its cache of one
// entry, MSG, report (LMI), received counter.
module ddc_done (
    input  wire        clk,
    input  wire        rst_n,
    // from the receive block
    input  wire        start,
    input  wire [31:0] control,
    input  wire        short_message,
    input  wire        last,
    input  wire [15:0] epn,
    input  wire [31:0] data1,
    input  wire [31:0] data2,
    output wire        busy,
    output wire        held,
    // registers
    input  wire        bus_master,
    input  wire        lrm_enable,
    input  wire [31:0] lrm_base,
    input  wire [31:0] lmi_new,
    input  wire        lmi_full,
    input  wire [7:0]  r3_status,
    output wire        lmi_advance,
    output wire        msg_set,
    output wire [31:0] msg_value,
    output wire        message_received,
    output wire        illegal_lrm,
    output wire        packet_overflow,
    output wire        lmi_overflow,
    // bus
    output wire        want,
    output wire [2:0]  kind,
    output wire        write,
    output wire [31:2] address,
    output wire        more,
    output reg  [31:0] wdata,
    input  wire        mine,
    input  wire        moved,
    input  wire [31:0] rdata
);
  localparam [3:0] IDLE = 0, COUNT = 1, BACK = 2, LOAD = 3, ADD = 4, CLEAR = 5, MSG = 6, REPORT = 7,
      WRITE = 8, NOTICE = 9;
  reg [3:0]  state;
  reg [31:0] flags;
  reg        is_short, is_last;
  reg [15:0] expected;
  reg [31:0] d1, d2;
  reg        told;                     // the full ring was told since Bus Master was set
  // cache
  reg        valid;
  reg [23:0] c_mi;
  reg [31:0] c_value;                  // EPN, RPN
  reg [31:0] c_memory;                 // what memory holds
  reg [15:0] packets;
  reg [1:0]  field;

  wire composed = flags[29];
  wire counted  = flags[28] && lrm_enable && (!is_short || composed);
  wire hit      = valid && c_mi == flags[23:0] && !composed;
  wire [15:0] rpn = c_value[15:0] + 16'd1;
  wire [15:0] carried = is_last && !composed ? expected : c_value[31:16];
  wire overflow = c_value[15:0] == 16'hFFFF;
  wire differ   = is_last && !composed && c_value[31:16] != 0 && c_value[31:16] != expected;
  wire nothing  = is_last && !composed && expected == 0;
  wire passed   = carried != 0 && rpn > carried;
  wire complete = carried != 0 && rpn == carried;
  wire word     = mine && moved;

  assign busy = state != IDLE;
  assign held = state == REPORT && lmi_full;
  assign illegal_lrm     = state == ADD && bus_master && (differ || nothing || passed);
  assign packet_overflow = state == ADD && bus_master && overflow;
  assign msg_set   = state == MSG && bus_master;
  assign msg_value = {flags[31:25], 1'b0, flags[23:0]};
  assign lmi_overflow = state == REPORT && bus_master && lmi_full && !told;
  assign lmi_advance  = state == WRITE && word && field == 2'd3;
  assign message_received = state == NOTICE;

  wire [1:0] field_now = field + {1'b0, word};
  assign want = (state == BACK || state == LOAD || state == CLEAR) && !word
             || (state == WRITE && !lmi_advance);
  assign kind = state == WRITE ? 3'd4 : state == LOAD ? 3'd5 : 3'd6;
  assign write = state != LOAD;
  wire [23:0] mi = state == BACK ? c_mi : flags[23:0];
  assign address = state == WRITE ? {lmi_new[31:4], field_now} : lrm_base[31:2] + {6'd0, mi};
  assign more = state == WRITE && field_now != 2'd3;
  always @* begin
    if (state == WRITE)
      case (field_now)
        2'd0:    wdata = {8'd0, r3_status, packets};
        2'd1:    wdata = {flags[31:25], 1'b0, flags[23:0]};
        2'd2:    wdata = is_short ? d1 : 32'd0;
        default: wdata = is_short ? d2 : 32'd0;
      endcase
    else wdata = state == CLEAR ? (composed ? c_value : 32'd0) : c_value;
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state    <= IDLE;
      flags    <= 0;
      is_short <= 0;
      is_last  <= 0;
      expected <= 0;
      d1       <= 0;
      d2       <= 0;
      told     <= 0;
      valid    <= 0;
      c_mi     <= 0;
      c_value  <= 0;
      c_memory <= 0;
      packets  <= 0;
      field    <= 0;
    end else begin
      if (!bus_master) told <= 0;
      case (state)
        IDLE:
        if (start) begin
          flags    <= control;
          is_short <= short_message;
          is_last  <= last;
          expected <= epn;
          d1       <= data1;
          d2       <= data2;
          field    <= 0;
          state    <= COUNT;
        end
        COUNT:
        if (!counted) begin
          packets <= is_short ? 16'd1 : expected;
          state   <= is_last ? MSG : IDLE;
        end else if (hit) state <= ADD;
        else if (valid && c_value != c_memory) state <= BACK;
        else state <= LOAD;
        BACK:
        if (word) begin
          c_memory <= c_value;
          state    <= LOAD;
        end
        LOAD:
        if (word) begin
          valid    <= !composed;
          c_mi     <= flags[23:0];
          c_value  <= rdata;
          c_memory <= rdata;
          state    <= ADD;
        end
        ADD:
        if (bus_master) begin
          packets <= rpn;
          c_value <= complete ? 32'd0 : {carried, rpn};
          if (complete || composed) begin
            state <= (composed || c_memory != 0) ? CLEAR : MSG;
          end else state <= IDLE;
          if (complete) is_last <= 1;
          else if (composed) is_last <= 0;
        end
        CLEAR:
        if (word) begin
          if (composed) valid <= 0;
          else c_memory <= 0;
          state <= is_last ? MSG : IDLE;
        end
        MSG: if (bus_master) state <= flags[27] ? REPORT : flags[31] ? NOTICE : IDLE;
        REPORT:
        if (bus_master) begin
          if (!lmi_full) state <= WRITE;
          else told <= 1;
        end
        WRITE: begin
          field <= field_now;
          if (lmi_advance) state <= flags[31] ? NOTICE : IDLE;
        end
        NOTICE: state <= IDLE;
        default: state <= IDLE;
      endcase
    end

  // Addresses are those of words and entries; bit 24 stays with the sender.
  wire unused = &{1'b0, lrm_base[1:0], lmi_new[3:0], flags[24]};
endmodule
