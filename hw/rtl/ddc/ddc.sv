// PCI-DDC: network controller between a PCI bus and a parallel port of the
// router. hw/doc/pci-ddc.md says what it does, hw/doc/rtl-ddc.md how.
module ddc #(
    parameter integer FIFO_WORDS       = 133,
    parameter integer RX_BURST         = 16,
    parameter integer REFILL           = 66,
    parameter integer PACKET_GAP       = 7,
    parameter integer RX_TIMEOUT       = 1 << 20
) (
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
    output wire [31:0] out_ad,
    output wire        out_ad_oe,
    output wire [3:0]  out_cbe_n,
    output wire        out_cbe_oe,
    output reg         out_par,
    output reg         out_par_oe,
    output wire        out_frame_n,
    output wire        out_frame_oe,
    output wire        out_irdy_n,
    output wire        out_irdy_oe,
    output wire        out_trdy_n,
    output wire        out_trdy_oe,
    output wire        out_devsel_n,
    output wire        out_devsel_oe,
    output wire        out_stop_n,
    output wire        out_stop_oe,
    output reg         out_perr_n,
    output reg         out_perr_oe,
    output reg         out_serr_oe,   // open drain: drives low
    output wire        out_req_n,
    output wire        out_inta_n,
    // router: configuration chain and status
    output wire        chain_strobe,
    output wire [7:0]  chain_byte,
    output wire        r3_init,
    input  wire [7:0]  r3_status,
    // parallel port
    input  wire        rx_signal,
    input  wire        rx_fcc,
    input  wire        rx_valid,
    input  wire [8:0]  rx_symbol,
    output wire        tx_signal,
    output wire        tx_fcc,
    output wire        tx_valid,
    output wire [8:0]  tx_symbol
);
  localparam integer A = 8;

  wire soft_reset;
  wire core_rst_n = rst_n && !soft_reset;

  // ---- registers
  wire [31:0] command, lpe_current, lpe_new, lmi_current, lmi_new, lrm_base;
  wire bus_master, bus_master_now, parity_response, serr_enable, lmi_full;
  wire [7:0] latency, status_link;
  assign r3_init = command[13];

  // ---- target
  wire t_ad_oe, t_ack_oe, t_trdy_n, t_devsel_n, t_stop_n, reg_write, address_seen;
  wire [31:0] t_ad, reg_value, reg_data;
  wire [5:0] reg_index;
  wire [3:0] reg_be;

  // ---- parity: what was on the bus one clock ago, and why it matters
  reg was_address, was_read_word, was_write_word, wrote_2;
  reg par_required;
  wire par_wrong = par_required != pci_par;
  wire m_moved, m_writing;
  wire address_parity = was_address && par_wrong;
  wire data_parity    = was_read_word && par_wrong;
  wire perr_in        = wrote_2 && !pci_perr_n;
  wire m_ad_oe;

  always @(posedge clk_pci or negedge rst_n)
    if (!rst_n) begin
      was_address    <= 0;
      was_read_word  <= 0;
      was_write_word <= 0;
      wrote_2        <= 0;
      par_required   <= 0;
      out_par        <= 0;
      out_par_oe     <= 0;
      out_perr_n     <= 1;
      out_perr_oe    <= 0;
      out_serr_oe    <= 0;
    end else begin
      was_address    <= address_seen && !m_ad_oe;
      was_read_word  <= (m_moved && !m_writing) || reg_write;
      was_write_word <= m_moved && m_writing;
      wrote_2        <= was_write_word;
      par_required   <= ^{pci_ad, pci_cbe_n};
      out_par        <= ^{pci_ad, pci_cbe_n};
      out_par_oe     <= m_ad_oe || t_ad_oe;
      out_perr_n     <= !(data_parity && parity_response);
      out_perr_oe    <= (data_parity && parity_response) || !out_perr_n;
      out_serr_oe    <= address_parity && parity_response && serr_enable;
    end

  ddc_target u_target (
      .clk(clk_pci), .rst_n(rst_n),
      .ad(pci_ad), .cbe_n(pci_cbe_n), .frame_n(pci_frame_n), .irdy_n(pci_irdy_n), .idsel(pci_idsel),
      .parity_wrong(address_parity),
      .ad_oe(t_ad_oe), .ad_out(t_ad), .ack_oe(t_ack_oe), .trdy_n(t_trdy_n), .devsel_n(t_devsel_n),
      .stop_n(t_stop_n), .reg_index(reg_index), .reg_value(reg_value), .reg_write(reg_write),
      .reg_data(reg_data), .reg_be(reg_be), .address_seen(address_seen));

  // ---- master and arbiter
  wire free, start, m_ended, m_tabort, m_mabort, m_cbe_oe;
  wire [31:0] m_ad, m_rdata;
  wire [3:0] m_cbe;
  reg  m_on;                            // a transfer is with the master
  reg  [2:0] m_kind;
  localparam [2:0] K_FETCH = 1, K_PAGE = 2, K_DATA = 3, K_REPORT = 4, K_LOAD = 5, K_STORE = 6;
  assign m_writing = m_kind == K_DATA || m_kind == K_REPORT || m_kind == K_STORE;

  wire tx_want, tx_more, rx_want, rx_more, dn_want, dn_more, dn_write;
  wire [2:0] tx_kind, dn_kind;
  wire [31:2] tx_address, rx_address, dn_address;
  wire [31:0] rx_wdata, dn_wdata;
  wire [3:0] rx_wbe;
  wire tx_mine = m_on && (m_kind == K_FETCH || m_kind == K_PAGE);
  wire rx_mine = m_on && m_kind == K_DATA;
  wire dn_mine = m_on && (m_kind == K_REPORT || m_kind == K_LOAD || m_kind == K_STORE);
  wire in_want = rx_want || dn_want;

  reg  [3:0] turn;
  wire [4:0] turn_next = {1'b0, turn} + {1'b0, command[31:28]};
  wire in_first = turn_next[4];
  wire pick_in  = in_want && (!tx_want || in_first);
  assign start  = free && bus_master_now && (in_want || tx_want);
  wire [2:0] pick_kind = !pick_in ? tx_kind : dn_want ? dn_kind : K_DATA;

  always @(posedge clk_pci or negedge core_rst_n)
    if (!core_rst_n) begin
      m_on   <= 0;
      m_kind <= 0;
      turn   <= 0;
    end else begin
      if (start) begin
        m_on   <= 1;
        m_kind <= pick_kind;
        if (in_want && tx_want) turn <= turn_next[3:0];
      end else if (m_ended) m_on <= 0;
    end

  wire more = bus_master_now && (tx_mine ? tx_more : rx_mine ? rx_more : dn_more);
  ddc_master u_master (
      .clk(clk_pci), .rst_n(core_rst_n),
      .ad(pci_ad), .frame_n(pci_frame_n), .irdy_n(pci_irdy_n), .trdy_n(pci_trdy_n),
      .devsel_n(pci_devsel_n), .stop_n(pci_stop_n), .gnt_n(pci_gnt_n),
      .ad_oe(m_ad_oe), .ad_out(m_ad), .cbe_oe(m_cbe_oe), .cbe_out(m_cbe),
      .frame_oe(out_frame_oe), .frame_out(out_frame_n), .irdy_oe(out_irdy_oe), .irdy_out(out_irdy_n),
      .req_n(out_req_n),
      .free(free), .start(start), .write(m_writing),
      .address(tx_mine ? tx_address : rx_mine ? rx_address : dn_address),
      .more(more), .wdata(rx_mine ? rx_wdata : dn_wdata), .wbe(rx_mine ? rx_wbe : 4'hF),
      .other_waits(tx_mine ? in_want : tx_want), .latency(latency),
      .moved(m_moved), .rdata(m_rdata), .ended(m_ended),
      .target_abort(m_tabort), .master_abort(m_mabort));

  assign out_ad        = m_ad_oe ? m_ad : t_ad;
  assign out_ad_oe     = m_ad_oe || t_ad_oe;
  assign out_cbe_n     = m_cbe;
  assign out_cbe_oe    = m_cbe_oe;
  assign out_trdy_n    = t_trdy_n;
  assign out_trdy_oe   = t_ack_oe;
  assign out_devsel_n  = t_devsel_n;
  assign out_devsel_oe = t_ack_oe;
  assign out_stop_n    = t_stop_n;
  assign out_stop_oe   = t_ack_oe;

  // ---- transmit
  wire [A:0] tx_room, tx_level, rx_level;
  wire tx_push, tx_pop, rx_room_ok, rx_push, rx_pop;
  wire [31:0] tx_word, tx_head;
  wire [34:0] rx_word, rx_head, rx_second, rx_third;
  wire [A:0] rx_room;
  wire order, left, packet_of;
  wire [15:0] o_rp, o_length;
  wire [31:0] o_control, o_remote, o_data2;
  wire [11:0] o_max;
  wire lpe_advance, page_sent;

  ddc_tx #(.FIFO_WORDS(FIFO_WORDS), .REFILL(REFILL), .A(A)) u_tx (
      .clk(clk_pci), .rst_n(core_rst_n),
      .tx_init(command[14]), .mpl(command[27:16]), .lpe_current(lpe_current), .lpe_new(lpe_new),
      .lpe_advance(lpe_advance),
      .want(tx_want), .kind(tx_kind), .address(tx_address), .more(tx_more), .mine(tx_mine),
      .started(start && !pick_in), .moved(m_moved), .rdata(m_rdata), .ended(m_ended),
      .room(tx_room), .push(tx_push), .push_word(tx_word),
      .order(order), .o_rp(o_rp), .o_control(o_control), .o_remote(o_remote), .o_data2(o_data2),
      .o_length(o_length), .o_max(o_max), .left(left), .page_sent(page_sent));

  // The order crosses by two flip-flops; `left` comes back without (chosen:
  // the end is known four characters ahead, hw/doc/pci-ddc.md, "Timing").
  reg order_1, order_2, of_1, of_2, of_3;
  reg [7:0] ends_1, ends_2;
  wire [7:0] ends_gray;
  always @(posedge clk_link or negedge core_rst_n)
    if (!core_rst_n) begin
      order_1 <= 0;
      order_2 <= 0;
    end else begin
      order_1 <= order;
      order_2 <= order_1;
    end
  always @(posedge clk_pci or negedge core_rst_n)
    if (!core_rst_n) begin
      ends_1 <= 0;
      ends_2 <= 0;
      of_1   <= 0;
      of_2   <= 0;
      of_3   <= 0;
    end else begin
      ends_1 <= ends_gray;
      ends_2 <= ends_1;
      of_1   <= packet_of;
      of_2   <= of_1;
      of_3   <= of_2;
    end

  wire [31:0] nc_second, nc_third;
  ddc_fifo #(.W(32), .A(A), .LIMIT(FIFO_WORDS)) u_tx_fifo (
      .wclk(clk_pci), .wrst_n(core_rst_n), .push(tx_push), .wdata(tx_word), .room(tx_room),
      .rclk(clk_link), .rrst_n(core_rst_n), .pop(tx_pop), .head(tx_head), .second(nc_second),
      .third(nc_third), .level(tx_level));

  wire offer, taken, up, in_valid, in_take, lost;
  wire [8:0] symbol, in_symbol;
  ddc_packetiser #(.GAP(PACKET_GAP)) u_packetiser (
      .clk(clk_link), .rst_n(core_rst_n),
      .order(order_2), .o_rp(o_rp), .o_control(o_control), .o_remote(o_remote), .o_data2(o_data2),
      .o_length(o_length), .o_max(o_max), .left(left), .overflow(packet_of),
      .avail(tx_level != 0), .head(tx_head), .pop(tx_pop),
      .up(up), .offer(offer), .symbol(symbol), .taken(taken));

  ddc_port u_port (
      .clk(clk_link), .rst_n(core_rst_n), .enable(command[12]), .loopback(command[8]),
      .rx_signal(rx_signal), .rx_fcc(rx_fcc), .rx_valid(rx_valid), .rx_symbol(rx_symbol),
      .tx_signal(tx_signal), .tx_fcc(tx_fcc), .tx_valid(tx_valid), .tx_symbol(tx_symbol),
      .offer(offer), .offer_symbol(symbol), .taken(taken), .up(up),
      .in_valid(in_valid), .in_symbol(in_symbol), .in_take(in_take), .lost(lost));

  // ---- receive
  assign rx_room_ok = rx_room != 0;
  ddc_assembler u_assembler (
      .clk(clk_link), .rst_n(core_rst_n),
      .in_valid(in_valid), .in_symbol(in_symbol), .in_take(in_take), .lost(lost),
      .room(rx_room_ok), .push(rx_push), .push_word(rx_word), .ends_gray(ends_gray));

  ddc_fifo #(.W(35), .A(A), .LIMIT(FIFO_WORDS)) u_rx_fifo (
      .wclk(clk_link), .wrst_n(core_rst_n), .push(rx_push), .wdata(rx_word), .room(rx_room),
      .rclk(clk_pci), .rrst_n(core_rst_n), .pop(rx_pop), .head(rx_head), .second(rx_second),
      .third(rx_third), .level(rx_level));

  wire done_busy, held, done_start, done_short, done_last;
  wire [15:0] done_epn;
  wire [31:0] done_control, done_data1, done_data2;
  wire e_eep, e_hcrc, e_dcrc, e_ep, e_timeout;
  ddc_rx #(.BURST(RX_BURST), .TIMEOUT(RX_TIMEOUT), .A(A)) u_rx (
      .clk(clk_pci), .rst_n(core_rst_n), .bus_master(bus_master),
      .level(rx_level), .head(rx_head), .second(rx_second), .third(rx_third), .pop(rx_pop),
      .ends_gray(ends_2),
      .want(rx_want), .address(rx_address), .more(rx_more), .wdata(rx_wdata), .wbe(rx_wbe),
      .mine(rx_mine), .moved(m_moved),
      .done_busy(done_busy), .held(held), .done_start(done_start), .control(done_control),
      .done_short(done_short), .done_last(done_last), .done_epn(done_epn),
      .done_data1(done_data1), .done_data2(done_data2),
      .eep_error(e_eep), .crc_header_error(e_hcrc), .crc_data_error(e_dcrc), .ep_error(e_ep),
      .timeout_error(e_timeout));

  wire lmi_advance, msg_set, message_received, e_lrm, e_rof, e_lmi;
  wire [31:0] msg_value;
  ddc_done u_done (
      .clk(clk_pci), .rst_n(core_rst_n),
      .start(done_start), .control(done_control), .short_message(done_short), .last(done_last),
      .epn(done_epn), .data1(done_data1), .data2(done_data2), .busy(done_busy), .held(held),
      .bus_master(bus_master), .lrm_enable(command[9]), .lrm_base(lrm_base), .lmi_new(lmi_new),
      .lmi_full(lmi_full), .r3_status(status_link), .lmi_advance(lmi_advance),
      .msg_set(msg_set), .msg_value(msg_value), .message_received(message_received),
      .illegal_lrm(e_lrm), .packet_overflow(e_rof), .lmi_overflow(e_lmi),
      .want(dn_want), .kind(dn_kind), .write(dn_write), .address(dn_address), .more(dn_more),
      .wdata(dn_wdata), .mine(dn_mine), .moved(m_moved), .rdata(m_rdata));

  ddc_regs u_regs (
      .clk(clk_pci), .rst_n(rst_n), .core_rst_n(core_rst_n),
      .index(reg_index), .value(reg_value), .write(reg_write), .data(reg_data), .be(reg_be),
      .page_sent(page_sent), .message_received(message_received),
      .events({e_eep, e_hcrc, e_dcrc, e_ep, e_timeout, 3'b000, of_2 != of_3, e_rof, e_lrm, e_lmi}),
      .pci_data_parity((data_parity && parity_response) || perr_in),
      .pci_target_abort(m_tabort), .pci_master_abort(m_mabort),
      .pci_serr(address_parity && parity_response && serr_enable),
      .pci_parity(data_parity || address_parity),
      .transaction_set(start), .transaction_kind({1'b0, pick_kind}),
      .link_status(r3_status), .lpe_advance(lpe_advance), .lmi_advance(lmi_advance),
      .msg_set(msg_set), .msg_value(msg_value),
      .command(command), .bus_master(bus_master), .bus_master_now(bus_master_now),
      .parity_response(parity_response), .serr_enable(serr_enable), .latency(latency),
      .lpe_current(lpe_current), .lpe_new(lpe_new), .lmi_current(lmi_current), .lmi_new(lmi_new),
      .lmi_full(lmi_full), .lrm_base(lrm_base), .r3_status(status_link), .soft_reset(soft_reset),
      .chain_strobe(chain_strobe), .chain_byte(chain_byte), .inta_n(out_inta_n));

  // Reserved bits of COMMAND; the transmit side needs the head only.
  wire unused = &{1'b0, command[15], command[11:10], command[7:0], lmi_current, dn_write, nc_second, nc_third};
endmodule
