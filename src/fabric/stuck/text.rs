//! The report in words.

use core::fmt;

use super::{Reason, Report, Waiter};
use crate::hsl::word::Set;

/// Ports of a set, as "1" or "1 or 3".
struct Ports(u8);

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, port) in Set(self.0).enumerate() {
            if i > 0 {
                f.write_str(" or ")?;
            }
            write!(f, "{port}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: packet", self.at)?;
        match self.header {
            Some(header) => write!(f, " for node {header}")?,
            None => f.write_str(" (header not seen)")?,
        }
        match self.reason {
            Reason::Outputs {
                wanted,
                down,
                holders,
            } => {
                write!(f, " waits for port {}", Ports(wanted))?;
                for output in Set(wanted) {
                    if down >> output & 1 == 1 {
                        write!(f, "; port {output} has no usable link")?;
                    } else if let Some(&Some(input)) = holders.get(output) {
                        write!(f, "; port {output} is held by the packet at input {input}")?;
                    } else {
                        write!(f, "; port {output} is free")?;
                    }
                }
                Ok(())
            }
            Reason::Credit { output, beyond } => {
                write!(f, " holds port {output} and waits for credit: ")?;
                match beyond {
                    Some(end) => write!(f, "{end} takes no more"),
                    None => f.write_str("nothing is plugged in"),
                }
            }
            Reason::Rest { output, from } => {
                if let Some(output) = output {
                    write!(f, " holds port {output} and")?;
                }
                f.write_str(" waits for its rest")?;
                match from {
                    Some(end) => write!(f, " from {end}"),
                    None => f.write_str(", and nothing is plugged in"),
                }
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = self.at.ps() / 1_000_000;
        match (
            self.still,
            self.waiters.is_empty() && self.senders.is_empty(),
        ) {
            (true, false) => write!(f, "stuck at {us} us: nothing can move any more")?,
            (true, true) => write!(f, "at rest at {us} us")?,
            (false, _) => write!(f, "still moving at {us} us")?,
        }
        if !self.cycle.is_empty() {
            write!(f, "\n{} inputs wait in a ring:", self.cycle.len())?;
            for at in &self.cycle {
                write!(f, " {}.{} >", at.router, at.port)?;
            }
            if let Some(first) = self.cycle.first() {
                write!(f, " {}.{}", first.router, first.port)?;
            }
        }
        for waiter in &self.waiters {
            let mark = if self.cycle.contains(&waiter.at) {
                '*'
            } else {
                ' '
            };
            write!(f, "\n{mark} {waiter}")?;
        }
        if !self.senders.is_empty() {
            f.write_str("\npages not sent: node")?;
            for (i, node) in self.senders.iter().enumerate() {
                write!(f, "{} {node}", if i > 0 { "," } else { "" })?;
            }
        }
        Ok(())
    }
}
