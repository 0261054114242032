//! Hints that memory will soon be read. They read nothing and never fault, so any address will do.
#![expect(unsafe_code, reason = "prefetch instructions")]

/// Asks for the cache line at `address` in the first-level cache.
#[inline(always)]
pub fn read<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: feature: SSE is in the baseline; bounds: a prefetch does not fault.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: bounds: a prefetch does not fault.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// Asks for the cache line at `address` in the second-level cache.
#[inline(always)]
pub fn read_later<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: feature: SSE is in the baseline; bounds: a prefetch does not fault.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: bounds: a prefetch does not fault.
    unsafe {
        std::arch::asm!("prfm pldl2keep, [{}]", in(reg) address, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_address_faults() {
        for address in [0, 1, 0xfff, usize::MAX / 2, usize::MAX] {
            super::read(address as *const u8);
            super::read_later(address as *const u8);
        }
    }
}
