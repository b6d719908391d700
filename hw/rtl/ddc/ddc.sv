// PCI-DDC: network controller between a PCI bus and a parallel port of the
// router. hw/doc/pci-ddc.md says what it does, hw/doc/rtl-ddc.md how.
module ddc #(
    parameter integer FIFO_WORDS       = 133,  // TX FIFO, and the longest packet
    parameter integer RX_FIFO_WORDS    = 133,
    parameter integer RX_BURST         = 16,
    parameter integer REFILL           = 66,
    parameter integer PACKET_GAP       = 7,
    parameter integer RX_TIMEOUT       = 1 << 20,
    parameter integer LINK_TO_PCI_SYNC = 0       // flip-flops behind the end of a page: 0 to 2
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
  wire [31:0] command, lpe_current, lpe_after, lpe_new, lmi_new, lrm_base;
  wire enabled, enabled_now, parity_response, serr_enable, lmi_full;
  wire [7:0] latency;
  assign r3_init = command[13];

  // ---- parity: what was on the bus one clock ago, and why it matters
  reg was_address, was_read, was_write, wrote_1, wrote_2, par_required;
  wire t_ad_oe, m_ad_oe, m_moved, m_on_bus, reg_write, address_seen;
  wire m_writing;
  wire par_wrong = par_required != pci_par;
  wire bad_address = was_address && par_wrong;
  wire bad_read    = was_read && par_wrong;           // of a word that the master read
  wire bad_write   = was_write && par_wrong;          // of a word written to a register
  wire perr_seen   = wrote_2 && !pci_perr_n;          // two clocks after a word of ours
  wire tell        = (bad_read || bad_write) && parity_response;

  always @(posedge clk_pci or negedge rst_n)
    if (!rst_n) begin
      was_address  <= 0;
      was_read     <= 0;
      was_write    <= 0;
      wrote_1      <= 0;
      wrote_2      <= 0;
      par_required <= 0;
      out_par      <= 0;
      out_par_oe   <= 0;
      out_perr_n   <= 1;
      out_perr_oe  <= 0;
      out_serr_oe  <= 0;
    end else begin
      was_address  <= address_seen;
      was_read     <= m_moved && !m_writing;
      was_write    <= reg_write;
      wrote_1      <= m_moved && m_writing;
      wrote_2      <= wrote_1;
      par_required <= ^{pci_ad, pci_cbe_n};
      out_par      <= ^{pci_ad, pci_cbe_n};
      out_par_oe   <= m_ad_oe || t_ad_oe;
      out_perr_n   <= !tell;
      out_perr_oe  <= tell || !out_perr_n;
      out_serr_oe  <= bad_address && parity_response && serr_enable;
    end

  // ---- target
  wire t_ack_oe, t_trdy_n, t_devsel_n, t_stop_n;
  wire [31:0] t_ad, reg_value, reg_data;
  wire [5:0] reg_index;
  wire [3:0] reg_be;
  ddc_target u_target (
      .clk(clk_pci), .rst_n(rst_n),
      .ad(pci_ad), .cbe_n(pci_cbe_n), .frame_n(pci_frame_n), .irdy_n(pci_irdy_n), .idsel(pci_idsel),
      .own(m_on_bus), .parity_wrong(bad_address),
      .ad_oe(t_ad_oe), .ad_out(t_ad), .ack_oe(t_ack_oe), .trdy_n(t_trdy_n), .devsel_n(t_devsel_n),
      .stop_n(t_stop_n), .reg_index(reg_index), .reg_value(reg_value), .reg_write(reg_write),
      .reg_data(reg_data), .reg_be(reg_be), .address_seen(address_seen));

  // ---- bus master
  localparam [2:0] K_FETCH = 1, K_PAGE = 2, K_DATA = 3;
  wire m_begins, m_tabort, m_mabort, m_cbe_oe;
  wire [31:0] m_ad, m_rdata;
  wire [3:0] m_cbe;
  wire [2:0] m_kind;
  wire tx_waits, tx_want, tx_last, rx_waits, rx_want, rx_last, dn_waits, dn_want, dn_last;
  wire [2:0] tx_kind, dn_kind;
  wire [31:2] tx_address, rx_address, dn_address;
  wire [31:0] rx_wdata, dn_wdata;
  wire [3:0] rx_wbe;
  wire of_tx = m_kind == K_FETCH || m_kind == K_PAGE;
  wire of_rx = m_kind == K_DATA;
  assign m_writing = of_rx || m_kind == 3'd4 || m_kind == 3'd6;

  ddc_master u_master (
      .clk(clk_pci), .rst_n(core_rst_n),
      .ad(pci_ad), .frame_n(pci_frame_n), .irdy_n(pci_irdy_n), .trdy_n(pci_trdy_n),
      .devsel_n(pci_devsel_n), .stop_n(pci_stop_n), .gnt_n(pci_gnt_n),
      .ad_oe(m_ad_oe), .ad_out(m_ad), .cbe_oe(m_cbe_oe), .cbe_out(m_cbe),
      .frame_oe(out_frame_oe), .frame_out(out_frame_n), .irdy_oe(out_irdy_oe), .irdy_out(out_irdy_n),
      .req_n(out_req_n),
      .enabled(enabled), .enabled_now(enabled_now), .balance(command[31:28]),
      .tx_want(tx_want), .tx_kind(tx_kind),
      .rx_want(rx_want || dn_want), .rx_kind(dn_want ? dn_kind : K_DATA),
      .kind(m_kind), .on_bus(m_on_bus), .begins(m_begins),
      .address(of_tx ? tx_address : of_rx ? rx_address : dn_address),
      .last_word(of_tx ? tx_last : of_rx ? rx_last : dn_last),
      .wdata(of_rx ? rx_wdata : dn_wdata), .wbe(of_rx ? rx_wbe : 4'hF),
      .other_waits(of_tx ? rx_waits || dn_waits : tx_waits), .latency(latency),
      .moved(m_moved), .rdata(m_rdata), .target_abort(m_tabort), .master_abort(m_mabort));

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
  wire [A:0] tx_room, tx_level, rx_level, rx_room;
  wire tx_push, tx_pop, rx_push, rx_pop;
  wire [31:0] tx_word, tx_head;
  wire [34:0] rx_word, rx_word0, rx_word1, rx_word2, rx_word3;
  wire order, left, packet_of;
  reg  left_1, left_2;
  wire left_seen = LINK_TO_PCI_SYNC == 0 ? left : LINK_TO_PCI_SYNC == 1 ? left_1 : left_2;
  wire [15:0] o_rp, o_length;
  wire [31:0] o_control, o_remote, o_data2;
  wire [11:0] o_max;
  wire lpe_advance, page_back, page_sent;

  ddc_tx #(.FIFO_WORDS(FIFO_WORDS), .REFILL(REFILL), .A(A)) u_tx (
      .clk(clk_pci), .rst_n(core_rst_n),
      .enabled(enabled), .tx_init(command[14]), .mpl(command[27:16]), .lpe_current(lpe_current),
      .lpe_after(lpe_after), .lpe_new(lpe_new), .lpe_advance(lpe_advance),
      .waits(tx_waits), .want(tx_want), .kind(tx_kind), .address(tx_address), .last_word(tx_last),
      .word_in(m_moved && of_tx), .rdata(m_rdata),
      .room(tx_room), .push(tx_push), .push_word(tx_word),
      .order(order), .o_rp(o_rp), .o_control(o_control), .o_remote(o_remote), .o_data2(o_data2),
      .o_length(o_length), .o_max(o_max), .left(left_seen), .page_back(page_back),
      .page_sent(page_sent));

  // Crossings: the order by two flip-flops, packet ends by two, the end of a page
  // by none unless the parameter says so (hw/doc/rtl-ddc.md, "Crossings").
  reg order_1, order_2;
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
      left_1 <= 0;
      left_2 <= 0;
    end else begin
      left_1 <= left;
      left_2 <= left_1;
      ends_1 <= ends_gray;
      ends_2 <= ends_1;
    end

  wire [31:0] nc_second, nc_third, nc_fourth;
  ddc_fifo #(.W(32), .A(A), .LIMIT(FIFO_WORDS)) u_tx_fifo (
      .wclk(clk_pci), .wrst_n(core_rst_n), .push(tx_push), .wdata(tx_word), .room(tx_room),
      .rclk(clk_link), .rrst_n(core_rst_n), .pop(tx_pop), .head(tx_head), .second(nc_second),
      .third(nc_third), .fourth(nc_fourth), .level(tx_level));

  wire ready, sent, in_valid, in_take, flush;
  wire [8:0] symbol, in_symbol;
  ddc_packetiser #(.GAP(PACKET_GAP)) u_packetiser (
      .clk(clk_link), .rst_n(core_rst_n),
      .order(order_2), .o_rp(o_rp), .o_control(o_control), .o_remote(o_remote), .o_data2(o_data2),
      .o_length(o_length), .o_max(o_max), .left(left), .overflow(packet_of),
      .avail(tx_level != 0), .head(tx_head), .pop(tx_pop),
      .flush(flush), .ready(ready), .sent(sent), .symbol(symbol));

  ddc_port u_port (
      .clk(clk_link), .rst_n(core_rst_n), .enable(command[12]), .loopback(command[8]),
      .rx_signal(rx_signal), .rx_fcc(rx_fcc), .rx_valid(rx_valid), .rx_symbol(rx_symbol),
      .tx_signal(tx_signal), .tx_fcc(tx_fcc), .tx_valid(tx_valid), .tx_symbol(tx_symbol),
      .ready(ready), .sent(sent), .sent_symbol(symbol),
      .in_valid(in_valid), .in_symbol(in_symbol), .in_take(in_take), .flush(flush));

  // ---- receive
  ddc_assembler u_assembler (
      .clk(clk_link), .rst_n(core_rst_n),
      .in_valid(in_valid), .in_symbol(in_symbol), .in_take(in_take), .flush(flush),
      .room(rx_room != 0), .push(rx_push), .push_word(rx_word), .ends_gray(ends_gray));

  ddc_fifo #(.W(35), .A(A), .LIMIT(RX_FIFO_WORDS)) u_rx_fifo (
      .wclk(clk_link), .wrst_n(core_rst_n), .push(rx_push), .wdata(rx_word), .room(rx_room),
      .rclk(clk_pci), .rrst_n(core_rst_n), .pop(rx_pop), .head(rx_word0), .second(rx_word1),
      .third(rx_word2), .fourth(rx_word3), .level(rx_level));

  wire busy, p_start, p_short, p_last;
  wire [15:0] p_expected;
  wire [31:0] p_control, p_data1, p_data2;
  wire e_eep, e_hcrc, e_dcrc, e_ep, e_timeout;
  ddc_rx #(.BURST(RX_BURST), .TIMEOUT(RX_TIMEOUT), .A(A)) u_rx (
      .clk(clk_pci), .rst_n(core_rst_n),
      .level(rx_level), .word0(rx_word0), .word1(rx_word1), .word2(rx_word2), .word3(rx_word3),
      .pop(rx_pop), .ends_gray(ends_2),
      .waits(rx_waits), .want(rx_want), .address(rx_address), .last_word(rx_last),
      .wdata(rx_wdata), .wbe(rx_wbe), .writing(m_on_bus && of_rx), .written(m_moved && of_rx),
      .busy(busy), .start(p_start), .control(p_control), .p_short(p_short), .p_last(p_last),
      .p_expected(p_expected), .p_data1(p_data1), .p_data2(p_data2),
      .eep_error(e_eep), .crc_header_error(e_hcrc), .crc_data_error(e_dcrc), .ep_error(e_ep),
      .timeout_error(e_timeout));

  wire lmi_advance, msg_set, message_received, e_lrm, e_rof, e_lmi;
  wire [31:0] msg_value;
  ddc_done u_done (
      .clk(clk_pci), .rst_n(core_rst_n),
      .start(p_start), .p_control(p_control), .p_short(p_short), .p_last(p_last),
      .p_expected(p_expected), .p_data1(p_data1), .p_data2(p_data2), .busy(busy),
      .enabled(enabled), .lrm_enable(command[9]), .lrm_base(lrm_base), .lmi_new(lmi_new),
      .lmi_full(lmi_full), .link_status(r3_status), .lmi_advance(lmi_advance), .msg_set(msg_set),
      .message_received(message_received), .illegal_lrm(e_lrm), .packet_overflow(e_rof),
      .lmi_overflow(e_lmi),
      .waits(dn_waits), .want(dn_want), .kind(dn_kind), .address(dn_address), .last_word(dn_last),
      .wdata(dn_wdata), .word_moved(m_moved && !of_tx && !of_rx), .rdata(m_rdata),
      .control(msg_value));

  ddc_regs u_regs (
      .clk(clk_pci), .rst_n(rst_n), .core_rst_n(core_rst_n),
      .index(reg_index), .value(reg_value), .write(reg_write), .data(reg_data), .be(reg_be),
      .page_sent(page_sent), .message_received(message_received),
      .events({e_eep, e_hcrc, e_dcrc, e_ep, e_timeout, 3'b000, page_back && packet_of, e_rof, e_lrm,
               e_lmi}),
      .pci_data_parity((bad_read || perr_seen) && parity_response),
      .pci_target_abort(m_tabort), .pci_master_abort(m_mabort),
      .pci_serr(bad_address && parity_response && serr_enable),
      .pci_parity(bad_read || bad_write || bad_address),
      .transaction_set(m_begins), .transaction_kind(m_kind),
      .link_status(r3_status), .lpe_advance(lpe_advance), .lmi_advance(lmi_advance),
      .msg_set(msg_set), .msg_value(msg_value),
      .command(command), .enabled(enabled), .enabled_now(enabled_now),
      .parity_response(parity_response), .serr_enable(serr_enable), .latency(latency),
      .lpe_current(lpe_current), .lpe_new(lpe_new), .lpe_after(lpe_after), .lmi_new(lmi_new),
      .lmi_full(lmi_full), .lrm_base(lrm_base), .soft_reset(soft_reset),
      .chain_strobe(chain_strobe), .chain_byte(chain_byte), .inta_n(out_inta_n));

  // Reserved bits of COMMAND; the transmit side needs the head only.
  wire unused = &{1'b0, left_2, command[15], command[11:10], command[7:0], nc_second, nc_third, nc_fourth};
endmodule
