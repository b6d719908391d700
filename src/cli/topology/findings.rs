//! Everything there is to say of a machine.

use std::boxed::Box;
use std::error::Error;
use std::format;
use std::string::{String, ToString};
use std::time::{Duration, Instant};
use std::vec::Vec;

use super::Machine;
use crate::fabric::analysis::{Analysis, Load};
use crate::fabric::deadlock::{Certificate, Cycle, certify};
use crate::fabric::labelling::{Labelling, Method};
use crate::fabric::topology::Topology;

pub struct Findings {
    pub method: &'static str,
    pub analysis: Analysis,
    pub deadlock: Result<Certificate, Cycle>,
    /// Whether the certificate was checked against the tables once more.
    pub verified: bool,
    pub certified_in: Duration,
    pub warnings: Vec<String>,
    /// Routers without a board.
    pub switches: usize,
    /// Cable directions, the one with most packets first.
    pub busiest: Vec<Load>,
}

impl Findings {
    pub fn new(machine: &Machine) -> Result<Self, Box<dyn Error>> {
        let topology = &machine.topology;
        let labels = Labelling::new(topology, machine.method)
            .map_err(|error| format!("{}: {error}", machine.name))?
            .with_adaptive(machine.adaptive);
        let analysis = Analysis::new(topology, &labels, |generator| labels.node_of(generator));
        let begun = Instant::now();
        let deadlock = certify(topology, &labels);
        let certified_in = begun.elapsed();
        let verified = match &deadlock {
            Ok(certificate) => {
                certificate.verify(topology, &labels)?;
                true
            }
            Err(_) => false,
        };
        let mut busiest = analysis.loads.clone();
        busiest.sort_by(|a, b| b.pairs.total_cmp(&a.pairs));
        let switches = (0..topology.routers())
            .filter(|&router| !topology.has_generator(router))
            .count();
        let mut findings = Self {
            method: method_name(labels.method()),
            analysis,
            deadlock,
            verified,
            certified_in,
            warnings: Vec::new(),
            switches,
            busiest,
        };
        findings.warn(machine, topology, &labels);
        Ok(findings)
    }

    pub fn pass(&self) -> bool {
        self.analysis.complete() && self.deadlock.is_ok()
    }

    fn warn(&mut self, machine: &Machine, topology: &Topology<'_>, labels: &Labelling<'_>) {
        // The tool's guess at deadlocks is left out: there is a certificate.
        let own = labels.warnings(topology).map(|warning| warning.to_string());
        let own = own.filter(|text| !text.ends_with("possible deadlock"));
        self.warnings.extend(own);
        let unused = self
            .analysis
            .loads
            .chunks(2)
            .filter(|both| both.iter().all(|load| load.pairs == 0.0))
            .count();
        if unused > 0 {
            let all = topology.cables().len();
            self.warnings
                .push(format!("{unused} of {all} cables carry nothing"));
        }
        if self.switches > 0 {
            self.warnings.push(format!(
                "{} routers have no board: a service processor has to load their tables",
                self.switches
            ));
        }
        if machine.adaptive {
            self.warnings.push(
                "adaptive tables: packets may overtake each other, the controllers have to count them"
                    .to_string(),
            );
        }
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Auto => "auto",
        Method::Ir => "ir",
        Method::Tree => "tree",
        Method::DimensionOrder(_) => "dimension-order",
        Method::UpDown(_) => "up-down",
    }
}
