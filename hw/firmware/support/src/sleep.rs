//! Sleep that no interrupt is lost in.

/// Sleeps until an interrupt is pending, unless `reason` says that there is work.
///
/// `reason` is asked with interrupts masked, and they stay masked up to the sleeping
/// instruction. An interrupt that becomes pending after the question is therefore not
/// taken before the sleep but ends it: `wfi` of both architectures wakes for an interrupt
/// that is pending and enabled at its source, masked in the processor or not (ARMv7-M
/// Architecture Reference Manual and RISC-V Privileged Architecture, "Wait For
/// Interrupt"). It is taken as the mask is lifted.
pub fn sleep_unless(reason: impl FnOnce() -> bool) {
    critical_section::with(|_| {
        if !reason() {
            sleep();
        }
    });
}

/// The sleeping instruction alone. An interrupt taken between the question whether there
/// is work and this is slept through: see [`sleep_unless`].
pub fn sleep() {
    #[cfg(target_arch = "arm")]
    {
        // What was written is out before the processor stops.
        cortex_m::asm::dsb();
        cortex_m::asm::wfi();
    }
    #[cfg(target_arch = "riscv32")]
    riscv::asm::wfi();
}
