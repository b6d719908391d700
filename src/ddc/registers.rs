//! The registers of the configuration space, declared once.
//!
//! Sources and what each register does: hw/doc/pci-ddc.md, "Registers".

pub use super::table::{Access, FieldInfo, RegisterInfo};

registers! {
    /// Identification.
    pub struct Identification("ID") @ 0x00, reset 0x0000_0000 {
        /// Vendor.
        vendor / with_vendor: 0..=15 => ro,
        /// Device.
        device / with_device: 16..=31 => ro,
    }

    /// PCI command and status.
    pub struct PciCommandStatus("PCI_COMMAND_STATUS") @ 0x04, reset 0x0200_0000 {
        /// Bus Master Enable: the controller may start transfers. Hardware
        /// clears it on errors.
        bus_master / with_bus_master: 2..=2 => rw,
        /// Parity errors of data are answered (PERR#, bit 24).
        parity_response / with_parity_response: 6..=6 => rw,
        /// SERR# may be driven.
        serr_enable / with_serr_enable: 8..=8 => rw,
        /// A data parity error in a transfer of this master.
        data_parity_error / with_data_parity_error: 24..=24 => w1c,
        /// DEVSEL# timing: 1, medium.
        devsel_timing / with_devsel_timing: 25..=26 => ro,
        /// This target aborted a transfer (it never does).
        signalled_target_abort / with_signalled_target_abort: 27..=27 => w1c,
        /// A target aborted a transfer of this master.
        received_target_abort / with_received_target_abort: 28..=28 => w1c,
        /// Nobody answered a transfer of this master.
        received_master_abort / with_received_master_abort: 29..=29 => w1c,
        /// SERR# was driven.
        signalled_system_error / with_signalled_system_error: 30..=30 => w1c,
        /// Any parity error; sets without interrupt.
        detected_parity_error / with_detected_parity_error: 31..=31 => w1c,
    }

    /// Class code and revision.
    pub struct ClassRevision("CLASS_REVISION") @ 0x08, reset 0x0280_0000 {
        /// Revision.
        revision / with_revision: 0..=7 => ro,
        /// Programming interface, sub class, base class.
        class / with_class: 8..=31 => ro,
    }

    /// Latency timer and header type.
    pub struct LatencyHeader("LATENCY_HEADER") @ 0x0C, reset 0x0000_0000 {
        /// Cache line size: not used.
        cache_line / with_cache_line: 0..=7 => ro,
        /// Clocks of a burst that the arbiter cannot cut short. Lost at soft reset.
        latency_timer / with_latency_timer: 8..=15 => rw,
        /// Header type 0.
        header_type / with_header_type: 16..=23 => ro,
        /// Self test: none.
        bist / with_bist: 24..=31 => ro,
    }

    /// Interrupt line and pin.
    pub struct Interrupt("INTERRUPT") @ 0x3C, reset 0x0000_0100 {
        /// For software only. Lost at soft reset.
        line / with_line: 0..=7 => rw,
        /// 1: INTA#.
        pin / with_pin: 8..=15 => ro,
        /// Wanted burst length: not told.
        min_gnt / with_min_gnt: 16..=23 => ro,
        /// Wanted access rate: not told.
        max_lat / with_max_lat: 24..=31 => ro,
    }

    /// Events, transaction number and link status.
    pub struct Status("STATUS") @ 0x40, reset 0x0000_0000 {
        /// Bit i: RCUBE link i is calibrated and working.
        r3_status / with_r3_status: 0..=7 => ro,
        /// The PCI transfer in progress, or the last one (see
        /// [`Transaction`](super::Transaction)).
        transaction / with_transaction: 8..=11 => ro,
        /// A report found the ring full. Ideal chip: cleared by writing 1.
        lmi_of_error / with_lmi_of_error: 12..=12 => w1c,
        /// A packet counter makes no sense.
        illegal_lrm_access_error / with_illegal_lrm_access_error: 13..=13 => w1c,
        /// More than 65535 packets of one message received.
        received_packet_of_error / with_received_packet_of_error: 14..=14 => w1c,
        /// More than 65535 packets of one message sent.
        sent_packet_of_error / with_sent_packet_of_error: 15..=15 => w1c,
        /// The counter of received messages was full; not a true error.
        page_received_of_error / with_page_received_of_error: 16..=16 => w1c,
        /// The counter of sent pages was full; not a true error.
        page_transmitted_of_error / with_page_transmitted_of_error: 17..=17 => w1c,
        /// An enabled link status bit fell.
        r3_status_error / with_r3_status_error: 18..=18 => w1c,
        /// No progress inside a packet for too long.
        timeout_error / with_timeout_error: 19..=19 => w1c,
        /// End of packet missing or misplaced.
        ep_error / with_ep_error: 20..=20 => w1c,
        /// The CRC of the data does not match.
        crc_data_error / with_crc_data_error: 21..=21 => w1c,
        /// The CRC of a header does not match.
        crc_header_error / with_crc_header_error: 22..=22 => w1c,
        /// A packet ended by an exceptional end of packet.
        eep_error / with_eep_error: 23..=23 => w1c,
        /// Received messages >= 16.
        page_received_16 / with_page_received_16: 24..=24 => ack(16),
        /// Received messages >= 256.
        page_received_256 / with_page_received_256: 25..=25 => ack(256),
        /// Received messages >= 4096.
        page_received_4096 / with_page_received_4096: 26..=26 => ack(4096),
        /// Sent pages >= 16.
        page_transmitted_16 / with_page_transmitted_16: 27..=27 => ack(16),
        /// Sent pages >= 256.
        page_transmitted_256 / with_page_transmitted_256: 28..=28 => ack(256),
        /// Sent pages >= 4096.
        page_transmitted_4096 / with_page_transmitted_4096: 29..=29 => ack(4096),
        /// Received messages not yet acknowledged.
        page_received / with_page_received: 30..=30 => ack(1),
        /// Sent pages not yet acknowledged.
        page_transmitted / with_page_transmitted: 31..=31 => ack(1),
    }

    /// Which events interrupt and stop.
    pub struct StatusMask("STATUS_MASK") @ 0x44, reset 0x0000_0000 {
        /// Link status bits whose fall is an event.
        r3_status / with_r3_status: 0..=7 => rw,
        /// 1: the event asserts INTA# (and, for an error, clears Bus Master).
        events / with_events: 12..=31 => rw,
    }

    /// Command.
    pub struct Command("COMMAND") @ 0x48, reset 0x0000_0000 {
        /// The transmit stream comes back as the receive stream.
        loopback / with_loopback: 8..=8 => rw,
        /// Packet counters may be used.
        lrm_enable / with_lrm_enable: 9..=9 => rw,
        /// The receive block works.
        rx_init / with_rx_init: 12..=12 => rw,
        /// The router is released.
        r3_init / with_r3_init: 13..=13 => rw,
        /// The transmit block works.
        tx_init / with_tx_init: 14..=14 => rw,
        /// Writing 1 resets the chip.
        soft_reset / with_soft_reset: 15..=15 => wo,
        /// Longest packet in data words; 0: the FIFO decides.
        max_packet_length / with_max_packet_length: 16..=27 => rw,
        /// Share of the receive block in the bus, 8: as much as the other.
        txrx_balance / with_txrx_balance: 28..=31 => rw,
    }

    /// The last completed reception.
    pub struct Message("MSG") @ 0x4C, reset 0x0000_0000 {
        /// Message identifier.
        mi / with_mi: 0..=23 => ro,
        /// Flags (control 31:24).
        message_type / with_message_type: 24..=31 => ro,
    }

    /// Address of the last entry of the LME.
    pub struct LpeMax("LPE_MAX") @ 0x50, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// Next entry of the LME that the controller reads.
    pub struct LpeCurrent("LPE_CURRENT") @ 0x54, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// First entry of the LME that is not valid yet.
    pub struct LpeNew("LPE_NEW") @ 0x58, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// Address of the first entry of the LME.
    pub struct LpeBase("LPE_BASE") @ 0x5C, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// Address of the last entry of the LMR.
    pub struct LmiMax("LMI_MAX") @ 0x60, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// Next entry of the LMR that software uses.
    pub struct LmiCurrent("LMI_CURRENT") @ 0x64, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// Next entry of the LMR that the controller writes.
    pub struct LmiNew("LMI_NEW") @ 0x68, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// Address of the first entry of the LMR.
    pub struct LmiBase("LMI_BASE") @ 0x6C, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// Address of the packet counter of message identifier 0.
    pub struct LrmBase("LRM_BASE") @ 0x70, reset 0x0000_0000 {
        /// The address.
        address / with_address: 0..=31 => rw,
    }

    /// The configuration chain of the router.
    pub struct R3Dout("R3_DOUT") @ 0x74, reset 0x0000_0000 {
        /// Each write sends this byte.
        byte / with_byte: 0..=7 => wo,
    }
}
