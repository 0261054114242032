//! Stores that go to memory without filling the caches, for results that nobody reads back soon.
//!
//! On x86-64 they are the non-temporal stores of the baseline instruction set. They are weakly
//! ordered: a fence must come before anyone else may look. [`scope`] holds the target borrowed until
//! that fence has been executed. On other CPUs the same calls copy normally.
#![expect(unsafe_code, reason = "non-temporal stores")]

use std::marker::PhantomData;

/// The bytes that one streaming store should fill at a time: a cache line.
pub const LINE_BYTES: usize = 64;

/// The right to make streaming stores on this thread until the [`scope`] ends.
pub struct Scope<'env> {
    // Invariant, so that no target can be borrowed for less than the scope; neither `Send` nor
    // `Sync`, since a fence orders the stores of its own thread only.
    targets: PhantomData<*mut &'env ()>,
}

/// Calls `work` with the right to make streaming stores, and fences them before it returns or unwinds.
///
/// ```
/// use lanework_arch::memory::stream;
///
/// let mut target = [0_u32; 64];
/// let (left, right) = target.split_at_mut(32);
/// stream::scope(|scope| {
///     scope.copy(&[1; 32], left);
///     scope.copy(&[2; 32], right);
/// });
/// assert_eq!((target[0], target[63]), (1, 2));
/// ```
pub fn scope<'env, R>(work: impl FnOnce(&Scope<'env>) -> R) -> R {
    let _fence = Fence;
    work(&Scope {
        targets: PhantomData,
    })
}

/// Copies `source` to `target` with streaming stores, see [`Scope::copy`].
///
/// # Panics
/// If the lengths differ.
pub fn copy<T: Copy>(source: &[T], target: &mut [T]) {
    scope(|scope| scope.copy(source, target));
}

impl<'env> Scope<'env> {
    /// Copies `source` to `target`: whole cache lines of the target with streaming stores, what lies
    /// before and after them normally.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn copy<T: Copy>(&self, source: &[T], target: &'env mut [T]) {
        assert_eq!(
            source.len(),
            target.len(),
            "lengths of source and target differ"
        );
        let bytes = size_of_val(source);
        let (source, target) = (
            source.as_ptr().cast::<u8>(),
            target.as_mut_ptr().cast::<u8>(),
        );
        let head = target.align_offset(LINE_BYTES).min(bytes);
        let lines = (bytes - head) / LINE_BYTES;
        let tail = head + lines * LINE_BYTES;
        // SAFETY: *bounds*: `head <= tail <= bytes`, and both slices have `bytes` bytes. They do not
        // overlap, as `target` is exclusive. The middle starts on a line. The fence the stores need
        // comes at the end of `scope`, before which `'env` keeps everyone from the target.
        unsafe {
            target.copy_from_nonoverlapping(source, head);
            copy_lines(source.add(head), target.add(head), lines);
            target
                .add(tail)
                .copy_from_nonoverlapping(source.add(tail), bytes - tail);
        }
    }
}

/// Copies `lines` cache lines.
///
/// # Safety
/// `source` is readable and `target` writable for that many lines, without overlap; `target` starts
/// on a line. On x86-64 a fence must follow before anything else looks at the target.
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn copy_lines(source: *const u8, target: *mut u8, lines: usize) {
    for i in 0..lines {
        // SAFETY: *bounds*: the caller's lines, 16 aligned bytes at a time. *feature*: SSE, part of
        // every x86-64. Written in assembly because the elements may hold padding, which registers
        // may carry and values of Rust may not.
        unsafe {
            std::arch::asm!(
                "movups {a}, [{source}]",
                "movups {b}, [{source} + 16]",
                "movups {c}, [{source} + 32]",
                "movups {d}, [{source} + 48]",
                "movntps [{target}], {a}",
                "movntps [{target} + 16], {b}",
                "movntps [{target} + 32], {c}",
                "movntps [{target} + 48], {d}",
                source = in(reg) source.add(i * LINE_BYTES),
                target = in(reg) target.add(i * LINE_BYTES),
                a = out(xmm_reg) _,
                b = out(xmm_reg) _,
                c = out(xmm_reg) _,
                d = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Copies `lines` cache lines.
///
/// # Safety
/// `source` is readable and `target` writable for that many lines, without overlap.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
unsafe fn copy_lines(source: *const u8, target: *mut u8, lines: usize) {
    // SAFETY: *bounds*: the caller's lines.
    unsafe { target.copy_from_nonoverlapping(source, lines * LINE_BYTES) };
}

/// Orders the streaming stores of this thread before everything that follows its end.
struct Fence;

impl Drop for Fence {
    #[inline]
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: *feature*: SSE, part of every x86-64.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_at_every_length_and_alignment() {
        let source: Vec<u8> = (0..400_u32).map(|i| (i * 7 % 251 + 1) as u8).collect();
        for len in (0..=66).chain([127, 128, 129, 191, 256, 320]) {
            for shift in 0..LINE_BYTES {
                let mut target = [0_u8; 400];
                copy(&source[3..3 + len], &mut target[shift..shift + len]);
                assert_eq!(
                    target[shift..shift + len],
                    source[3..3 + len],
                    "{len} at {shift}"
                );
                let outside = target[..shift].iter().chain(&target[shift + len..]);
                assert!(
                    outside.into_iter().all(|&byte| byte == 0),
                    "{len} at {shift}"
                );
            }
        }
    }

    #[test]
    fn elements_may_hold_padding() {
        let source: Vec<(u8, u32)> = (0..100_u32).map(|i| (i as u8, i * i)).collect();
        let mut target = vec![(0, 0); source.len()];
        copy(&source, &mut target);
        assert_eq!(target, source);
    }

    #[test]
    fn another_thread_sees_the_stores_after_the_scope() {
        let mut target = vec![0_u64; 1 << 16];
        let source: Vec<u64> = (0..1 << 16).collect();
        std::thread::scope(|threads| {
            for (from, to) in source.chunks(5000).zip(target.chunks_mut(5000)) {
                threads.spawn(move || copy(from, to));
            }
        });
        assert_eq!(target, source);
    }

    #[test]
    #[should_panic(expected = "lengths of source and target differ")]
    fn lengths_must_agree() {
        copy(&[1], &mut [0, 0]);
    }
}
