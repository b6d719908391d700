"""The user's RTL (dpi/hsl_repeater.sv, in Icarus) on the cable between two model routers.

    test = 0 router A 1 === hsl_repeater === 1 router B 0 = test

Its registers may cost cycles and nothing else: a packet arrives whole, exactly as much
later as there are stages.
"""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

import multipc
from multipc import EP, FCC_PULSE, IDLE, NO_SIGNAL

STAGES = 2
# hw/doc/rcube.md: parallel to serial 8, serial to parallel 10.
LATENCY = 8 + STAGES + 10
PACKET = [0x00, 0x01, *range(40, 72), EP]


def symbol(line):
    """Signal and symbol of a line, for the RTL."""
    return (0, 0) if line & NO_SIGNAL else (1, line & 0x1FF)


def line(signal, sym):
    """The line that the RTL drives."""
    return int(sym) if int(signal) else NO_SIGNAL


class Bench:
    """Both routers on the clock of the simulator."""

    def __init__(self, dut):
        self.dut = dut
        self.a, self.b = multipc.Rcube(parallel=1, quick=True), multipc.Rcube(parallel=1, quick=True)
        # Own node on port 0, the other on port 1; headers from 1 are in interval 7.
        bounds = [0, 1, 1, 1, 1, 1, 1, 1]
        self.a.configure(multipc.uniform_table(bounds, [1] + [2] * 7))
        self.b.configure(multipc.uniform_table(bounds, [2] + [1] * 7))

    def drive(self):
        """The routers' pins onto the cable, as registered outputs do."""
        for name, router in (("a", self.a), ("b", self.b)):
            signal, sym = symbol(router.lines[1])
            getattr(self.dut, f"{name}_in_signal").value = signal
            getattr(self.dut, f"{name}_in_sym").value = sym

    async def edge(self, to_a=IDLE, to_b=IDLE):
        """One clock edge: everybody samples what was there before it. Returns what port 0
        of B carries after it."""
        await ReadOnly()
        dut, nothing = self.dut, [NO_SIGNAL] * 6
        cable_a = line(dut.a_out_signal.value, dut.a_out_sym.value)
        cable_b = line(dut.b_out_signal.value, dut.b_out_sym.value)
        await RisingEdge(dut.clk)
        self.a.step([to_a, cable_a, *nothing])
        self.b.step([to_b, cable_b, *nothing])
        self.drive()
        return self.b.lines[0]


@cocotb.test()
async def repeater_costs_its_registers_and_nothing_else(dut):
    bench = Bench(dut)
    bench.drive()
    dut.rst_n.value = 0
    cocotb.start_soon(Clock(dut.clk, 15, units="ns").start())
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst_n.value = 1

    # The test as both controllers: 64 characters of credit, two pulses 8 cycles apart.
    for cycle in range(200):
        pulse = IDLE | FCC_PULSE if cycle in (8, 16) else IDLE
        await bench.edge(pulse, pulse)
    assert (bench.a.link_status, bench.b.link_status) == (3, 3), "links up"

    got, first = [], None
    for cycle in range(len(PACKET) + LATENCY + 10):
        # In cycle 0 the first symbol is on the pin; the edge that samples it is the first.
        out = await bench.edge(PACKET[cycle] if cycle < len(PACKET) else IDLE)
        if out & 0x1FF != IDLE:
            first = cycle + 1 if first is None else first
            got.append(out & 0x1FF)
    assert got == PACKET, got
    assert first == LATENCY, f"{first} cycles from pin to pin, expected {LATENCY}"


@cocotb.test()
async def errors_of_the_library_are_exceptions(dut):
    try:
        multipc.uniform_table([5, 4, 4, 4, 4, 4, 4, 4], [1] * 8)
    except multipc.Error as error:
        assert "bound" in str(error), error
    else:
        raise AssertionError("bounds that descend were taken")
