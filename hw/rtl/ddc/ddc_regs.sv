// PCI clock: the registers of configuration space with their side effects,
// STATUS with its two counters, INTA#, and what stops the bus master.
module ddc_regs (
    input  wire        clk,
    input  wire        rst_n,         // power-on
    input  wire        core_rst_n,    // power-on and soft reset
    // configuration target
    input  wire [5:0]  index,
    output reg  [31:0] value,
    input  wire        write,
    input  wire [31:0] data,
    input  wire [3:0]  be,
    // events of this edge
    input  wire        page_sent,
    input  wire        message_received,
    input  wire [23:12] events,       // error events, STATUS layout (18 unused)
    input  wire        pci_data_parity,
    input  wire        pci_target_abort,
    input  wire        pci_master_abort,
    input  wire        pci_serr,
    input  wire        pci_parity,    // may come in the edge after a soft reset
    input  wire        transaction_set,
    input  wire [2:0]  transaction_kind,
    input  wire [7:0]  link_status,
    input  wire        lpe_advance,
    input  wire        lmi_advance,
    input  wire        msg_set,
    input  wire [31:0] msg_value,
    // to the rest of the chip
    output reg  [31:0] command,
    output wire        enabled,       // Bus Master, after the bus errors of this edge
    output wire        enabled_now,   // and after all errors of this edge
    output reg         parity_response,
    output reg         serr_enable,
    output reg  [7:0]  latency,
    output reg  [31:0] lpe_current,
    output reg  [31:0] lpe_new,
    output wire [31:0] lpe_after,     // LPE_CURRENT at the end of this edge
    output reg  [31:0] lmi_new,
    output wire        lmi_full,
    output reg  [31:0] lrm_base,
    output reg         soft_reset,
    output reg         chain_strobe,
    output reg  [7:0]  chain_byte,
    output reg         inta_n
);
  reg [31:0] lpe_max, lpe_base, lmi_max, lmi_base, lmi_current, msg;
  reg [7:0]  r3_status;
  reg [31:0] mask;
  reg [7:0]  irq_line;
  reg        master_enable;
  reg [30:24] pci_status;
  reg        detected;                // bit 31: what was on the bus before a reset still counts
  reg [23:12] errors;
  reg [2:0]  transaction;
  reg        chain_full;
  reg [7:0]  chain_next;
  reg [15:0] sent, received;

  // Next values: events first, then the configuration write of this edge.
  reg [15:0] sent_n, received_n;
  reg [23:12] errors_e, errors_n;
  reg [31:24] pci_e, pci_n;
  wire       master_e;
  reg [31:0] lpe_current_e, lmi_new_e, msg_e;
  reg [2:0]  transaction_e;
  reg [31:0] bits;
  reg [31:0] merged;
  integer i;

  wire [7:0] fallen = r3_status & ~link_status & mask[7:0];

  function [15:0] less(input [15:0] n, input [15:0] k);
    less = n > k ? n - k : 16'd0;
  endfunction

  function [31:0] status_of(input [15:0] s, input [15:0] r, input [23:12] e, input [2:0] t,
                            input [7:0] l);
    status_of = {s != 0, r != 0, s >= 16'd4096, s >= 16'd256, s >= 16'd16, r >= 16'd4096,
                 r >= 16'd256, r >= 16'd16, e, 1'b0, t, l};
  endfunction

  reg [15:0] sent_e, received_e;
  always @* begin
    sent_e     = sent;
    received_e = received;
    errors_e   = errors | (events & 12'hFBF);
    if (page_sent) begin
      if (sent == 16'hFFFF) errors_e[17] = 1;
      else sent_e = sent + 16'd1;
    end
    if (message_received) begin
      if (received == 16'hFFFF) errors_e[16] = 1;
      else received_e = received + 16'd1;
    end
    if (fallen != 0) errors_e[18] = 1;
    pci_e     = {detected, pci_status};
    pci_e[24] = pci_e[24] | pci_data_parity;
    pci_e[28] = pci_e[28] | pci_target_abort;
    pci_e[29] = pci_e[29] | pci_master_abort;
    pci_e[30] = pci_e[30] | pci_serr;
    pci_e[31] = pci_e[31] | pci_parity;
    lpe_current_e = !lpe_advance ? lpe_current
                  : lpe_current == lpe_max ? lpe_base : lpe_current + 32'd16;
    lmi_new_e     = !lmi_advance ? lmi_new
                  : lmi_new == lmi_max ? lmi_base : lmi_new + 32'd16;
    msg_e         = msg_set ? msg_value : msg;
    transaction_e = transaction_set ? transaction_kind : transaction;
  end

  // An enabled error of this edge stops the bus master (bits 23:19, 15:12), and
  // so do the fatal ones of 04h. SERR# comes last: the arbiter does not see it.
  assign enabled     = master_enable && !pci_data_parity && !pci_target_abort && !pci_master_abort;
  assign enabled_now = enabled && (events & mask[23:12] & 12'b1111_1000_1111) == 0;
  assign master_e    = enabled_now && !pci_serr;
  assign lpe_after   = lpe_current_e;
  assign lmi_full = (lmi_new == lmi_max ? lmi_base : lmi_new + 32'd16) == lmi_current;

  // Read: as of after this edge's events.
  always @* begin
    case (index)
      6'h01: value = {pci_e, 8'h00, 7'd0, serr_enable, 1'b0, parity_response, 3'd0, master_e, 2'd0}
                     | 32'h0200_0000;
      6'h02: value = 32'h0280_0000;
      6'h03: value = {16'd0, latency, 8'd0};
      6'h0F: value = {16'd0, 8'd1, irq_line};
      6'h10: value = status_of(sent_e, received_e, errors_e, transaction_e, link_status);
      6'h11: value = mask;
      6'h12: value = command;
      6'h13: value = msg_e;
      6'h14: value = lpe_max;
      6'h15: value = lpe_current_e;
      6'h16: value = lpe_new;
      6'h17: value = lpe_base;
      6'h18: value = lmi_max;
      6'h19: value = lmi_current;
      6'h1A: value = lmi_new_e;
      6'h1B: value = lmi_base;
      6'h1C: value = lrm_base;
      default: value = 32'd0;
    endcase
  end

  always @* begin
    bits   = 0;
    merged = value;
    for (i = 0; i < 4; i = i + 1)
      if (be[i]) begin
        bits[8*i+:8]   = data[8*i+:8];
        merged[8*i+:8] = data[8*i+:8];
      end
    sent_n     = sent_e;
    received_n = received_e;
    errors_n   = errors_e;
    pci_n      = pci_e;
    if (write && index == 6'h10) begin
      sent_n = less(less(less(less(sent_e, {15'd0, bits[31]}), {11'd0, bits[27], 4'd0}),
                         {7'd0, bits[28], 8'd0}), {3'd0, bits[29], 12'd0});
      received_n = less(less(less(less(received_e, {15'd0, bits[30]}), {11'd0, bits[24], 4'd0}),
                             {7'd0, bits[25], 8'd0}), {3'd0, bits[26], 12'd0});
      errors_n = errors_e & ~bits[23:12];
    end
    if (write && index == 6'h01) pci_n = pci_e & ~bits[31:24];
  end

  wire [31:0] mask_n = write && index == 6'h11 ? merged & 32'hFFFF_F0FF : mask;
  wire reset_now = write && index == 6'h12 && bits[15];

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      soft_reset <= 0;
      detected   <= 0;
    end else begin
      soft_reset <= reset_now;
      detected   <= reset_now ? 1'b0 : soft_reset ? pci_parity : pci_n[31];
    end

  always @(posedge clk or negedge core_rst_n)
    if (!core_rst_n) begin
      master_enable   <= 0;
      parity_response <= 0;
      serr_enable     <= 0;
      pci_status      <= 0;
      latency         <= 0;
      irq_line        <= 0;
      errors          <= 0;
      transaction     <= 0;
      sent            <= 0;
      received        <= 0;
      r3_status       <= 0;
      mask            <= 0;
      command         <= 0;
      msg             <= 0;
      lpe_max         <= 0;
      lpe_current     <= 0;
      lpe_new         <= 0;
      lpe_base        <= 0;
      lmi_max         <= 0;
      lmi_current     <= 0;
      lmi_new         <= 0;
      lmi_base        <= 0;
      lrm_base        <= 0;
      chain_full      <= 0;
      chain_next      <= 0;
      chain_strobe    <= 0;
      chain_byte      <= 0;
      inta_n          <= 1;
    end else begin
      master_enable <= master_e;
      pci_status    <= pci_n[30:24];
      errors        <= errors_n;
      sent          <= sent_n;
      received      <= received_n;
      transaction   <= transaction_e;
      r3_status     <= link_status;
      lpe_current   <= lpe_current_e;
      lmi_new       <= lmi_new_e;
      msg           <= msg_e;
      mask          <= mask_n;
      chain_strobe  <= chain_full;
      chain_byte    <= chain_next;
      chain_full    <= 0;
      inta_n <= (status_of(sent_n, received_n, errors_n, 3'd0, 8'd0) & mask_n & 32'hFFFFF000) == 0
          && (pci_n & 8'b0111_1001) == 0;
      if (write)
        case (index)
          6'h01: begin
            master_enable   <= merged[2];
            parity_response <= merged[6];
            serr_enable     <= merged[8];
          end
          6'h03: latency <= merged[15:8];
          6'h0F: irq_line <= merged[7:0];
          6'h12: command <= merged & 32'hFFFF_7300;
          6'h14: lpe_max <= merged;
          6'h15: lpe_current <= merged;
          6'h16: lpe_new <= merged;
          6'h17: lpe_base <= merged;
          6'h18: lmi_max <= merged;
          6'h19: lmi_current <= merged;
          6'h1A: lmi_new <= merged;
          6'h1B: lmi_base <= merged;
          6'h1C: lrm_base <= merged;
          6'h1D:
          if (be[0]) begin
            chain_full <= 1;
            chain_next <= data[7:0];
          end
          default: ;
        endcase
    end

  // Read-only bits of STATUS.
  wire unused = &{1'b0, bits[11:0]};
endmodule
