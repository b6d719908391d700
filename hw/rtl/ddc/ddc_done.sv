// PCI clock: completion of good packets: packet counter (LRM) with its cache
// of one entry, MSG, report (LMI), received counter. The receive block takes
// the next packet when this is idle again.
module ddc_done (
    input  wire        clk,
    input  wire        rst_n,
    // from the receive block
    input  wire        start,
    input  wire [31:0] p_control,
    input  wire        p_short,
    input  wire        p_last,
    input  wire [15:0] p_expected,
    input  wire [31:0] p_data1,
    input  wire [31:0] p_data2,
    output wire        busy,
    // registers
    input  wire        enabled,       // Bus Master, after the bus errors of this edge
    input  wire        lrm_enable,
    input  wire [31:0] lrm_base,
    input  wire [31:0] lmi_new,
    input  wire        lmi_full,
    input  wire [7:0]  link_status,   // the pins at this edge
    output wire        lmi_advance,
    output reg         msg_set,
    output reg         message_received,
    output wire        illegal_lrm,
    output wire        packet_overflow,
    output reg         lmi_overflow,
    // bus
    output wire        waits,         // wants the bus, as it stood
    output wire        want,          // at the end of this edge
    output wire [2:0]  kind,
    output wire [31:2] address,
    output wire        last_word,
    output reg  [31:0] wdata,
    input  wire        word_moved,    // a word of ours moved
    input  wire [31:0] rdata,
    // the packet in hand, from `start` on
    output wire [31:0] control
);
  localparam [3:0] IDLE = 0, WRITE_BACK = 1, READ = 2, WRITE = 3, CHECK = 4, FULL = 5, REPORT = 6,
      NOTIFY = 7;
  localparam [2:0] K_REPORT = 4, K_READ = 5, K_WRITE = 6;

  reg [3:0]  state, state_1, state_2;
  reg [31:0] h_control, h_data1, h_data2;
  reg        h_last;
  reg [15:0] h_expected;
  reg [15:0] packets, packets_1;       // for the report
  reg        stopped, stopped_2;       // Bus Master was seen off since the ring was full
  reg [31:0] value, value_1;           // counter to be written
  reg        complete, complete_1;
  reg [1:0]  sent;
  reg [31:0] report0;                  // first word of the report
  reg        capture;
  // cache
  reg        c_valid, c_valid_1;
  reg [23:0] c_mi, c_mi_1;
  reg [31:0] c_value, c_value_1;       // EPN, RPN
  reg [31:0] c_memory, c_memory_1;     // what memory holds

  // The packet in hand.
  assign control        = start ? p_control : h_control;
  wire        last      = start ? p_last : h_last;
  wire [15:0] expected  = start ? p_expected : h_expected;
  wire        composed  = control[29] && control[28];
  wire        counted   = lrm_enable && control[28] && (!p_short || control[29]);
  wire        hit       = c_valid && c_mi == control[23:0];
  wire        dirty     = c_value != c_memory;

  // One more packet on a counter: from the cache, or just read.
  wire [31:0] counter  = start ? c_value : rdata;
  wire [31:0] memory   = start ? c_memory : rdata;
  wire        carries  = last && !composed;
  wire        over     = counter[15:0] == 16'hFFFF;
  wire [15:0] rpn      = over ? 16'hFFFF : counter[15:0] + 16'd1;
  wire        bad_end  = carries && (expected == 0
                                     || (counter[31:16] != 0 && counter[31:16] != expected));
  wire [15:0] epn      = carries && !bad_end ? expected : counter[31:16];
  wire        passed   = !over && !bad_end && epn != 0 && rpn > epn;
  wire        done     = !over && !bad_end && epn != 0 && rpn == epn;
  wire        count_it = (start && counted && !composed && hit) || (word_moved && state == READ);
  assign illegal_lrm     = count_it && (bad_end || passed);
  assign packet_overflow = count_it && over && !bad_end;

  assign busy        = state != IDLE;
  assign lmi_advance = word_moved && state == REPORT && sent == 2'd3;

  always @* begin
    state_1    = state;
    packets_1  = packets;
    value_1    = value;
    complete_1 = complete;
    c_valid_1  = c_valid;
    c_mi_1     = c_mi;
    c_value_1  = c_value;
    c_memory_1 = c_memory;
    // A packet came in, or a word moved.
    if (start) begin
      if (counted) begin
        if (composed ? hit && dirty : !hit && c_valid && dirty) state_1 = WRITE_BACK;
        else if (composed || !hit) state_1 = READ;
        if (composed && hit && !dirty) c_valid_1 = 0;   // must not hide the entry
      end else if (last) begin
        packets_1 = expected;
        state_1   = CHECK;
      end
    end else if (word_moved)
      case (state)
        WRITE_BACK: begin
          c_valid_1 = 0;
          state_1   = READ;
        end
        WRITE: state_1 = complete ? CHECK : IDLE;
        REPORT: if (sent == 2'd3) state_1 = NOTIFY;
        default: ;                                       // READ: below
      endcase
    if (count_it) begin
      packets_1  = rpn;
      value_1    = done ? 32'd0 : {epn, rpn};
      complete_1 = done;
      if (composed) state_1 = WRITE;
      else if (done) begin
        c_valid_1 = 0;
        state_1   = memory == 0 ? CHECK : WRITE;
      end else begin
        c_valid_1  = 1;
        c_mi_1     = control[23:0];
        c_value_1  = {epn, rpn};
        c_memory_1 = memory;
        state_1    = IDLE;
      end
    end
    // A step.
    state_2          = state_1;
    stopped_2        = stopped;
    msg_set          = 0;
    message_received = 0;
    lmi_overflow     = 0;
    capture          = 0;
    case (state_1)
      CHECK: begin
        msg_set   = 1;
        capture   = control[27] && !lmi_full;
        state_2   = !control[27] ? NOTIFY : lmi_full ? FULL : REPORT;
        stopped_2 = 0;
        lmi_overflow = control[27] && lmi_full;
      end
      FULL:
      if (!lmi_full) begin
        capture = 1;
        state_2 = REPORT;
      end else if (stopped && enabled) begin
        lmi_overflow = 1;
        stopped_2    = 0;
      end else stopped_2 = stopped || !enabled;
      NOTIFY: begin
        message_received = control[31];
        state_2          = IDLE;
      end
      default: ;
    endcase
  end

  function wants(input [3:0] s);
    wants = s == WRITE_BACK || s == READ || s == WRITE || s == REPORT;
  endfunction
  assign waits = wants(state);
  assign want  = wants(state_2);
  assign kind  = state_2 == REPORT ? K_REPORT : state_2 == READ ? K_READ : K_WRITE;
  wire [23:0] mi = state == WRITE_BACK ? c_mi : h_control[23:0];
  assign address = state == REPORT ? lmi_new[31:2] + {28'd0, sent} : lrm_base[31:2] + {6'd0, mi};
  wire [1:0] sent_now = sent + {1'b0, word_moved && state == REPORT};
  assign last_word = state != REPORT || sent_now == 2'd3;
  always @*
    case (state)
      REPORT:
      case (sent_now)
        2'd0:    wdata = report0;
        2'd1:    wdata = h_control;
        2'd2:    wdata = h_data1;
        default: wdata = h_data2;
      endcase
      WRITE_BACK: wdata = c_value;
      default:    wdata = value;
    endcase

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state      <= IDLE;
      h_control  <= 0;
      h_data1    <= 0;
      h_data2    <= 0;
      h_last     <= 0;
      h_expected <= 0;
      packets    <= 0;
      stopped    <= 0;
      value      <= 0;
      complete   <= 0;
      sent       <= 0;
      report0    <= 0;
      c_valid    <= 0;
      c_mi       <= 0;
      c_value    <= 0;
      c_memory   <= 0;
    end else begin
      state    <= state_2;
      packets  <= packets_1;
      stopped  <= stopped_2;
      value    <= value_1;
      complete <= complete_1;
      c_valid  <= c_valid_1;
      c_mi     <= c_mi_1;
      c_value  <= c_value_1;
      c_memory <= c_memory_1;
      sent     <= capture ? 2'd0 : sent_now;
      if (capture) report0 <= {8'd0, link_status, packets_1};
      if (start) begin
        h_control  <= p_control;
        h_data1    <= p_data1;
        h_data2    <= p_data2;
        h_last     <= p_last;
        h_expected <= p_expected;
      end
    end

  // Addresses are those of words.
  wire unused = &{1'b0, lrm_base[1:0], lmi_new[1:0]};
endmodule
