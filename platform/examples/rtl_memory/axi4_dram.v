// An AXI4 subordinate (weft::Axi4Hop) in front of a DRAM controller: one burst for reading and one for
// writing at a time. Bursts are of type INCR, with beats as wide as the data.
module axi4_dram #(
    parameter DATA_BITS = 128,
    parameter WORDS_LOG2 = 20
) (
    input aclk,
    input aresetn,
    input awvalid,
    output awready,
    input [7:0] awid,
    input [63:0] awaddr,
    input [7:0] awlen,
    input wvalid,
    output wready,
    input [DATA_BITS-1:0] wdata,
    input [DATA_BITS/8-1:0] wstrb,
    input wlast,
    output bvalid,
    input bready,
    output [7:0] bid,
    output [1:0] bresp,
    input arvalid,
    output arready,
    input [7:0] arid,
    input [63:0] araddr,
    input [7:0] arlen,
    output rvalid,
    input rready,
    output [7:0] rid,
    output [DATA_BITS-1:0] rdata,
    output [1:0] rresp,
    output rlast
);
  localparam BYTES = DATA_BITS / 8;

  // The burst that is written: `write_left` beats wait for their data, `write_open` for their responses.
  reg writing, write_done;
  reg [7:0] write_id;
  reg [63:0] write_address;
  reg [8:0] write_left, write_open;
  // The burst that is read: `read_left` beats are not requested yet, `read_open` are not answered.
  reg reading;
  reg [7:0] read_id;
  reg [63:0] read_address;
  reg [8:0] read_left, read_open;
  reg turn;  // of the two, who goes first

  wire request_ready, response_valid, response_error;
  wire [31:0] response_id;
  wire [DATA_BITS-1:0] response_data;
  wire want_write = writing && write_left != 0 && wvalid;
  wire want_read = reading && read_left != 0;
  wire give_write = want_write && !(want_read && turn);
  wire give_read = want_read && !give_write;
  wire is_write = response_id[0];
  wire take_response = response_valid && (is_write || rready);

  assign awready = aresetn && !writing;
  assign arready = aresetn && !reading;
  assign wready = give_write && request_ready;
  assign bvalid = write_done;
  assign bid = write_id;
  assign bresp = 2'b00;
  assign rvalid = response_valid && !is_write;
  assign rid = read_id;
  assign rdata = response_data;
  assign rresp = {response_error, 1'b0};
  assign rlast = read_open == 1;

  // All beats of a burst lie in one row (a burst crosses no boundary of 4 KiB), so they are answered in order.
  dram_controller #(
      .DATA_BITS(DATA_BITS),
      .WORDS_LOG2(WORDS_LOG2),
      .ROW_WORDS_LOG2($clog2(4096 / BYTES))
  ) controller (
      .clk(aclk),
      .reset_n(aresetn),
      .request_valid(give_write || give_read),
      .request_ready(request_ready),
      .request_id({31'd0, give_write}),
      .request_write(give_write),
      .request_address(give_write ? write_address : read_address),
      .request_data(wdata),
      .request_strobe(wstrb),
      .response_valid(response_valid),
      .response_ready(is_write || rready),
      .response_id(response_id),
      .response_data(response_data),
      .response_error(response_error)
  );

  always @(posedge aclk) begin
    if (!aresetn) begin
      writing <= 0;
      write_done <= 0;
      reading <= 0;
      turn <= 0;
    end else begin
      if (awvalid && awready) begin
        writing <= 1;
        write_id <= awid;
        write_address <= awaddr;
        write_left <= {1'b0, awlen} + 1;
        write_open <= {1'b0, awlen} + 1;
      end
      if (wvalid && wready) begin
        write_address <= write_address + BYTES;
        write_left <= write_left - 1;
        turn <= 1;
      end
      if (take_response && is_write) begin
        write_open <= write_open - 1;
        if (write_open == 1) write_done <= 1;
      end
      if (bvalid && bready) begin
        write_done <= 0;
        writing <= 0;
      end
      if (arvalid && arready) begin
        reading <= 1;
        read_id <= arid;
        read_address <= araddr;
        read_left <= {1'b0, arlen} + 1;
        read_open <= {1'b0, arlen} + 1;
      end
      if (give_read && request_ready) begin
        read_address <= read_address + BYTES;
        read_left <= read_left - 1;
        turn <= 0;
      end
      if (take_response && !is_write) begin
        read_open <= read_open - 1;
        if (read_open == 1) reading <= 0;
      end
    end
  end
endmodule
