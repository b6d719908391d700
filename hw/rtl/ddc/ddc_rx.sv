// PCI clock: receive block. Takes words of the RX FIFO, checks framing and
// CRCs, writes data to the address the packet carries, hands finished packets
// to the completion block.
module ddc_rx #(
    parameter integer BURST   = 16,
    parameter integer TIMEOUT = 1 << 20,
    parameter integer A       = 8
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        bus_master,
    // RX FIFO
    input  wire [A:0]  level,
    input  wire [34:0] head,
    input  wire [34:0] second,
    input  wire [34:0] third,
    output wire        pop,
    input  wire [7:0]  ends_gray,     // packet ends pushed, after two flip-flops
    // bus
    output wire        want,
    output wire [31:2] address,
    output wire        more,
    output wire [31:0] wdata,
    output wire [3:0]  wbe,
    input  wire        mine,
    input  wire        moved,
    // completion
    input  wire        done_busy,
    input  wire        held,          // the report waits for room
    output wire        done_start,
    output reg  [31:0] control,
    output wire        done_short,
    output wire        done_last,
    output wire [15:0] done_epn,
    output wire [31:0] done_data1,
    output reg  [31:0] done_data2,
    // events
    output reg         eep_error,
    output reg         crc_header_error,
    output reg         crc_data_error,
    output reg         ep_error,
    output wire        timeout_error
);
  localparam [2:0] T_DATA = 0, T_BP = 1, T_ED = 2, T_EP = 3, T_CUT = 4, T_BAD_END = 6;
  localparam [3:0] HEAD = 0, MARKS = 1, ADDR = 2, HCRC = 3, DATA = 4, DCRC = 5, END = 6, SKIP = 7,
      SHORT2 = 8, SHCRC = 9, SHEND = 10;

  reg [3:0]  state;
  reg [31:0] crc;
  reg [31:0] data1;                    // address of the packet, or data 1
  reg [29:0] at;                       // word address of the head data word
  reg        first;
  reg [31:0] tail;
  reg [7:0]  ends_taken;
  reg [20:0] idle;

  wire [2:0]  tag  = head[34:32];
  wire [31:0] word = head[31:0];
  wire short_message = control[26] || control[29];

  reg [7:0] ends;
  integer i;
  always @* begin
    ends = ends_gray;
    for (i = 6; i >= 0; i = i - 1) ends[i] = ends[i+1] ^ ends_gray[i];
  end

  wire written = mine && moved;        // the head left for memory
  wire look    = !mine && !done_busy && level != 0 && bus_master;
  wire is_end  = tag == T_EP || tag == T_CUT || tag == T_BAD_END;
  wire writing = state == DATA && tag == T_DATA;
  wire take    = look && !writing;
  // BP inside a packet is not taken: it is looked at again as a beginning.
  wire again   = take && tag == T_BP && state != HEAD;
  assign pop   = written || (take && !again);

  wire [31:0] crc_next;
  ddc_crc32 u_crc (.crc(crc), .word(word), .next(crc_next));

  reg good;                            // the packet is complete and right
  always @* begin
    eep_error        = 0;
    crc_header_error = 0;
    crc_data_error   = 0;
    ep_error         = 0;
    good             = 0;
    if (take) begin
      if (tag == T_CUT) eep_error = state != HEAD;
      else if (again) ep_error = state != SKIP;
      else
        case (state)
          HEAD:    ep_error = tag != T_BP;
          MARKS, ADDR, SHORT2: ep_error = tag != T_DATA;
          HCRC, SHCRC: begin
            ep_error = tag != T_DATA;
            crc_header_error = tag == T_DATA && word != ~crc;
          end
          DATA:    ep_error = tag != T_ED;
          DCRC: begin
            ep_error = tag != T_DATA;
            crc_data_error = tag == T_DATA && word != ~crc && !tail[22];
          end
          END, SHEND: begin
            ep_error = tag != T_EP;
            good = tag == T_EP;
          end
          default: ;
        endcase
    end
  end

  assign done_start = good;
  assign done_short = state == SHEND;
  assign done_last  = state == SHEND ? control[30] : tail[23];
  assign done_epn   = tail[15:0];
  assign done_data1 = data1;

  // Data writes
  wire [34:0] now_head   = written ? second : head;
  wire [34:0] now_second = written ? third : second;
  wire [A:0]  now_level  = level - {{A{1'b0}}, written};
  wire        now_first  = first && !written;
  wire        all_in     = ends != ends_taken;
  wire        data_now   = state == DATA && now_head[34:32] == T_DATA && now_level >= 2;
  assign want    = data_now && !done_busy && (all_in || now_level > BURST[A:0]);
  assign address = at + {29'd0, written};
  assign more    = now_second[34:32] == T_DATA && now_level >= 3;
  assign wdata   = now_head[31:0];
  wire [3:0] from_lane = now_first ? 4'hF << data1[1:0] : 4'hF;
  wire [3:0] to_lane   = now_second[34:32] == T_ED ? 4'hF >> (2'd3 - now_second[17:16]) : 4'hF;
  assign wbe = from_lane & to_lane;

  wire progress = pop || done_busy || state == HEAD || !bus_master || held;
  assign timeout_error = TIMEOUT != 0 && idle == TIMEOUT[20:0] - 21'd1 && !progress;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state      <= HEAD;
      crc        <= 32'hFFFFFFFF;
      data1      <= 0;
      at         <= 0;
      first      <= 0;
      tail       <= 0;
      control    <= 0;
      done_data2 <= 0;
      ends_taken <= 0;
      idle       <= 0;
    end else begin
      idle <= progress || timeout_error ? 21'd0 : idle + 21'd1;
      if (pop) crc <= crc_next;
      if (written) begin
        at    <= at + 30'd1;
        first <= 0;
      end
      if (take) begin
        if (is_end) begin
          ends_taken <= ends_taken + 8'd1;
          state      <= HEAD;
          crc        <= 32'hFFFFFFFF;
        end else if (again) begin
          state <= HEAD;
          crc   <= 32'hFFFFFFFF;
        end else if (ep_error || crc_header_error || crc_data_error) state <= SKIP;
        else
          case (state)
            HEAD: state <= MARKS;
            MARKS: begin
              control <= word;
              state   <= ADDR;
            end
            ADDR: begin
              data1 <= word;
              at    <= word[31:2];
              first <= 1;
              state <= short_message ? SHORT2 : HCRC;
            end
            SHORT2: begin
              done_data2 <= word;
              state      <= SHCRC;
            end
            HCRC: begin
              state <= DATA;
              crc   <= 32'hFFFFFFFF;
            end
            DATA: begin
              tail  <= word;
              state <= DCRC;
            end
            DCRC: state <= END;
            SHCRC: state <= SHEND;
            default: ;
          endcase
      end
    end

  // The tail word has reserved bits; of a word that may be the tail only the lane matters.
  wire unused = &{1'b0, tail[31:24], tail[21:16], now_second[31:18], now_second[15:0]};
endmodule
