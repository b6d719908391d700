//! The trace event format of Chrome, in JSON: one process a node, one thread a
//! rank, complete events (`X`) for spans, flow events (`s`, `f`) for messages.
//! Perfetto opens it. Times are
//! microseconds from the start of the run with six decimals: exact.

use core::fmt;

use super::{Decimal, Timeline};
use crate::time::{Duration, Instant};

impl Timeline {
    /// Writes the trace as Chrome trace event JSON.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_chrome(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let start = self.start();
        let long = |time: Duration| Decimal {
            ps: time.ps(),
            digits: 6,
        };
        let us = |at: Instant| long(at - start);
        out.write_str("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut separator = "\n";
        for (rank, lane) in self.lanes.iter().enumerate() {
            let node = lane.node;
            for (what, name, number) in [
                ("process_name", "node", usize::from(node)),
                ("thread_name", "rank", rank),
            ] {
                write!(
                    out,
                    "{separator}{{\"ph\":\"M\",\"pid\":{node},\"tid\":{rank},\"name\":\"{what}\",\
                     \"args\":{{\"name\":\"{name} {number}\"}}}}"
                )?;
                separator = ",\n";
            }
            for span in &lane.spans {
                let length = long(span.end - span.start);
                write!(
                    out,
                    "{separator}{{\"ph\":\"X\",\"pid\":{node},\"tid\":{rank},\"cat\":\"mpi\",\
                     \"name\":\"{}\",\"ts\":{},\"dur\":{length}}}",
                    span.part.name(),
                    us(span.start)
                )?;
            }
        }
        for (id, message) in self.messages.iter().enumerate() {
            let name = if message.control { "control" } else { "data" };
            let node = |rank: u32| self.lanes.get(rank as usize).map_or(0, |lane| lane.node);
            for (phase, rank, at, binding) in [
                ("s", message.from, message.sent, ""),
                ("f", message.to, message.received, ",\"bp\":\"e\""),
            ] {
                write!(
                    out,
                    "{separator}{{\"ph\":\"{phase}\",\"id\":{id},\"pid\":{},\"tid\":{rank},\
                     \"cat\":\"message\",\"name\":\"{name}\",\"ts\":{}{binding},\
                     \"args\":{{\"bytes\":{}}}}}",
                    node(rank),
                    us(at),
                    message.bytes
                )?;
                separator = ",\n";
            }
        }
        out.write_str("\n]}\n")
    }
}
