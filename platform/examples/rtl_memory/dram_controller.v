// A DRAM controller with its memory: banks with open rows, and one word per request (weft::ReadyValidHop).
//
// Requests wait in a queue, the oldest first. In each cycle one of them goes to its bank, if the bank is
// idle; one whose row is open goes before older ones (FR-FCFS). The bank is busy for CAS cycles, or for
// RCD + CAS if no row was open, or for RP + RCD + CAS if another row was. Then the word is read or written,
// and the response goes out, one per cycle.
module dram_controller #(
    parameter DATA_BITS = 256,
    parameter WORDS_LOG2 = 16,  // memory
    parameter ROW_WORDS_LOG2 = 7,
    parameter BANKS_LOG2 = 3,
    parameter PLACES_LOG2 = 4,  // requests in the queue
    parameter CAS = 12,         // cycles
    parameter RCD = 12,
    parameter RP = 12
) (
    input clk,
    input reset_n,
    input request_valid,
    output request_ready,
    input [31:0] request_id,
    input request_write,
    input [63:0] request_address,
    input [DATA_BITS-1:0] request_data,
    input [DATA_BITS/8-1:0] request_strobe,
    output reg response_valid,
    input response_ready,
    output reg [31:0] response_id,
    output reg [DATA_BITS-1:0] response_data,
    output response_error
);
  localparam BANKS = 1 << BANKS_LOG2;
  localparam PLACES = 1 << PLACES_LOG2;
  localparam BYTES = DATA_BITS / 8;
  localparam BYTES_LOG2 = $clog2(BYTES);
  localparam ROW_BITS = WORDS_LOG2 - ROW_WORDS_LOG2 - BANKS_LOG2;

  reg [DATA_BITS-1:0] memory[0:(1<<WORDS_LOG2)-1]  /*verilator public_flat_rw*/;
  reg cleared;

  // The queue: place 0 is the oldest.
  reg [PLACES_LOG2:0] queued  /*verilator public_flat_rd*/;
  reg [31:0] id[0:PLACES-1];
  reg write[0:PLACES-1];
  reg [WORDS_LOG2-1:0] word[0:PLACES-1];
  reg [DATA_BITS-1:0] data[0:PLACES-1];
  reg [BYTES-1:0] strobe[0:PLACES-1];

  // The banks, each with the request that it serves.
  reg [BANKS-1:0] bank_busy  /*verilator public_flat_rd*/;
  reg [BANKS-1:0] bank_open;
  reg [ROW_BITS-1:0] bank_row[0:BANKS-1]  /*verilator public_flat_rd*/;
  reg [7:0] bank_left[0:BANKS-1];
  reg [31:0] bank_id[0:BANKS-1];
  reg bank_write[0:BANKS-1];
  reg [WORDS_LOG2-1:0] bank_word[0:BANKS-1];
  reg [DATA_BITS-1:0] bank_data[0:BANKS-1];
  reg [BYTES-1:0] bank_strobe[0:BANKS-1];

  assign request_ready = reset_n && queued != PLACES[PLACES_LOG2:0];
  assign response_error = 1'b0;

  integer i, b, chosen;
  reg has, hit, answered, taken;
  reg [BANKS_LOG2-1:0] bank;
  reg [ROW_BITS-1:0] row;

  // Blocking assignments: this one block owns all of the state, and other modules see registered outputs.
  // verilator lint_off BLKSEQ
  always @(posedge clk) begin
    if (!reset_n) begin
      if (!cleared) for (i = 0; i < (1 << WORDS_LOG2); i = i + 1) memory[i] = 0;
      cleared = 1;
      queued = 0;
      bank_busy = 0;
      bank_open = 0;
      response_valid <= 0;
    end else begin
      cleared = 0;
      taken = request_valid && request_ready;

      // A bank whose time is over answers, if the last response is gone.
      answered = response_valid && !response_ready;
      if (!answered) response_valid <= 0;
      for (b = 0; b < BANKS; b = b + 1) begin
        if (bank_busy[b]) begin
          if (bank_left[b] != 0) bank_left[b] = bank_left[b] - 1;
          else if (!answered) begin
            answered = 1;
            bank_busy[b] = 0;
            response_valid <= 1;
            response_id <= bank_id[b];
            response_data <= memory[bank_word[b]];
            if (bank_write[b]) begin
              for (i = 0; i < BYTES; i = i + 1) begin
                if (bank_strobe[b][i]) memory[bank_word[b]][8*i+:8] = bank_data[b][8*i+:8];
              end
            end
          end
        end
      end

      // The oldest request to an open row whose bank is idle, else the oldest to any idle bank.
      has = 0;
      hit = 0;
      chosen = 0;
      for (i = 0; i < PLACES; i = i + 1) begin
        bank = word[i][ROW_WORDS_LOG2+:BANKS_LOG2];
        row  = word[i][WORDS_LOG2-1-:ROW_BITS];
        if (i < queued && !bank_busy[bank] && !hit) begin
          if (bank_open[bank] && bank_row[bank] == row) begin
            hit = 1;
            has = 1;
            chosen = i;
          end else if (!has) begin
            has = 1;
            chosen = i;
          end
        end
      end
      if (has) begin
        bank = word[chosen][ROW_WORDS_LOG2+:BANKS_LOG2];
        bank_left[bank] = hit ? CAS[7:0] : bank_open[bank] ? RP[7:0] + RCD[7:0] + CAS[7:0] : RCD[7:0] + CAS[7:0];
        bank_busy[bank] = 1;
        bank_open[bank] = 1;
        bank_row[bank] = word[chosen][WORDS_LOG2-1-:ROW_BITS];
        bank_id[bank] = id[chosen];
        bank_write[bank] = write[chosen];
        bank_word[bank] = word[chosen];
        bank_data[bank] = data[chosen];
        bank_strobe[bank] = strobe[chosen];
        for (i = 0; i < PLACES - 1; i = i + 1) begin
          if (i >= chosen) begin
            id[i] = id[i+1];
            write[i] = write[i+1];
            word[i] = word[i+1];
            data[i] = data[i+1];
            strobe[i] = strobe[i+1];
          end
        end
      end

      if (has) queued = queued - 1;
      if (taken) begin
        id[queued[PLACES_LOG2-1:0]] = request_id;
        write[queued[PLACES_LOG2-1:0]] = request_write;
        word[queued[PLACES_LOG2-1:0]] = request_address[BYTES_LOG2+:WORDS_LOG2];
        data[queued[PLACES_LOG2-1:0]] = request_data;
        strobe[queued[PLACES_LOG2-1:0]] = request_strobe;
        queued = queued + 1;
      end
    end
  end
endmodule
