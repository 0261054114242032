use cl3::error_codes::error_text;

/// Why a device could not be found, made ready or searched with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no OpenCL on this machine.
    #[error(
        "no OpenCL library: {reason}\nhint: install the loader (on Debian, ocl-icd-libopencl1) and the driver of the GPU"
    )]
    NoLibrary {
        /// What the system says.
        reason: String,
    },
    /// There is a library, and no driver that it knows.
    #[error("no OpenCL platform\nhint: install the driver of the GPU")]
    NoPlatform,
    /// The platform does not exist.
    #[error("no OpenCL platform {index}: the highest is {maximum}")]
    PlatformIndex {
        /// What was asked for.
        index: usize,
        /// The index of the last platform.
        maximum: usize,
    },
    /// The platform has no devices.
    #[error("no device of OpenCL platform {platform}")]
    NoDevice {
        /// The index of the platform.
        platform: usize,
    },
    /// The device does not exist.
    #[error("no device {index} of OpenCL platform {platform}: the highest is {maximum}")]
    DeviceIndex {
        /// The index of the platform.
        platform: usize,
        /// What was asked for.
        index: usize,
        /// The index of the platform's last device.
        maximum: usize,
    },
    /// The nonces of a launch cannot be divided into groups of the local work size.
    #[error("{threads} threads are not a multiple of the local work size: {local}")]
    LocalWorkSize {
        /// The nonces of a launch.
        threads: u32,
        /// The local work size.
        local: u32,
    },
    /// The device does not run groups as large.
    #[error("the local work size is too large: {local}, the device's maximum is {maximum}")]
    LocalWorkSizeTooLarge {
        /// The local work size.
        local: u32,
        /// The most that the device takes for this program.
        maximum: usize,
    },
    /// The driver does not compile the program.
    #[error("the driver does not compile the program: {log}")]
    Build {
        /// What the compiler says.
        log: String,
    },
    /// The counter of hits could not be set to zero, so that nothing the device reports means anything.
    #[error("resetting the result failed: {} ({code})", error_text(*code))]
    Reset {
        /// OpenCL's number for the reason.
        code: i32,
    },
    /// A call failed.
    #[error("{call} failed: {} ({code})", error_text(*code))]
    Call {
        /// The name of the function.
        call: &'static str,
        /// OpenCL's number for the reason.
        code: i32,
    },
}
