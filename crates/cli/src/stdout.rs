//! Whether standard output was there when the program was started.
//!
//! Before `main`, the standard library opens `/dev/null` in the place of a standard stream that is
//! closed, and whatever is printed then goes nowhere without an error. So the loader is asked to look
//! earlier.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether it was closed, where the system tells.
pub(crate) fn was_closed() -> bool {
    CLOSED.load(Relaxed)
}

#[cfg(target_os = "linux")]
extern "C" fn look() {
    use std::os::fd::AsFd;

    /// Of Linux, on every architecture.
    const EBADF: i32 = 9;
    let copy = std::io::stdout().as_fd().try_clone_to_owned();
    let closed = copy.is_err_and(|error| error.raw_os_error() == Some(EBADF));
    CLOSED.store(closed, Relaxed);
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "puts a function on a list of the loader")]
// SAFETY: the section is a list of C functions that the loader calls once, before `main`; `look` is
// one, and needs nothing that is set up later.
#[unsafe(link_section = ".init_array")]
#[used]
static LOOK: extern "C" fn() = look;
