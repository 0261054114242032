//! The calls of OpenCL, as far as the search needs them, behind functions that are safe to call.
//!
//! Every transfer between host and device blocks, so that OpenCL keeps no pointer of ours after a call
//! returns. Handles are released when they are dropped; that this may fail is of no interest to anyone.

#![expect(unsafe_code, reason = "calls of a C library")]

use std::ffi::{CString, c_void};
use std::num::NonZeroU32;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use cl3::command_queue::{
    create_command_queue, enqueue_nd_range_kernel, enqueue_read_buffer, enqueue_write_buffer,
    finish, flush, release_command_queue,
};
use cl3::context::{create_context, release_context};
use cl3::device::{
    CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_NAME, CL_DEVICE_TYPE_ALL, CL_DEVICE_VENDOR,
    cl_device_info, get_device_data, get_device_ids,
};
use cl3::error_codes::DLOPEN_RUNTIME_LOAD_FAILED;
use cl3::event::release_event;
use cl3::ext::CL_PLATFORM_NOT_FOUND_KHR;
use cl3::kernel::{
    CL_KERNEL_WORK_GROUP_SIZE, create_kernel, get_kernel_work_group_data, release_kernel,
    set_kernel_arg,
};
use cl3::memory::{
    CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, create_buffer, release_mem_object,
};
use cl3::platform::{
    CL_PLATFORM_NAME, CL_PLATFORM_VENDOR, CL_PLATFORM_VERSION, cl_platform_info, get_platform_data,
    get_platform_ids,
};
use cl3::program::{
    CL_PROGRAM_BUILD_LOG, build_program, create_program_with_source, get_program_build_data,
    release_program,
};
use cl3::types::{
    CL_BLOCKING, cl_command_queue, cl_context, cl_device_id, cl_event, cl_kernel, cl_mem,
    cl_platform_id, cl_program,
};

use crate::{Error, first_round};

/// The nonces that the program has room for, in the buffer of hits.
pub(crate) const CAPACITY: usize = 16;

/// The most of a compiler's messages that is passed on.
const LOG_BYTES: usize = 4096;

/// Held while platforms and devices are asked for. Drivers start up at the first question, and some give
/// wrong answers to others that come meanwhile.
static LISTING: Mutex<()> = Mutex::new(());

const SOURCE: &str = include_str!("work.cl");

/// The error of `call`, unless it went well.
fn check<T>(call: &'static str, result: Result<T, i32>) -> Result<T, Error> {
    result.map_err(|code| match code {
        DLOPEN_RUNTIME_LOAD_FAILED => Error::NoLibrary {
            reason: cl3::load_library()
                .as_ref()
                .err()
                .map_or_else(String::new, ToString::to_string),
        },
        _ => Error::Call { call, code },
    })
}

/// A string as OpenCL returns it, which ends with a zero byte.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_matches(|c: char| c == '\0' || c.is_whitespace())
        .to_owned()
}

/// A platform of the list, which OpenCL keeps as long as the process lives.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PlatformId(cl_platform_id);

/// All platforms; none is no error.
pub(crate) fn platforms() -> Result<Vec<PlatformId>, Error> {
    let _lock = LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    match get_platform_ids() {
        Err(CL_PLATFORM_NOT_FOUND_KHR) => Ok(Vec::new()),
        ids => Ok(check("clGetPlatformIDs", ids)?
            .into_iter()
            .map(PlatformId)
            .collect()),
    }
}

impl PlatformId {
    pub(crate) fn name(self) -> Result<String, Error> {
        self.text(CL_PLATFORM_NAME)
    }

    pub(crate) fn vendor(self) -> Result<String, Error> {
        self.text(CL_PLATFORM_VENDOR)
    }

    pub(crate) fn version(self) -> Result<String, Error> {
        self.text(CL_PLATFORM_VERSION)
    }

    fn text(self, what: cl_platform_info) -> Result<String, Error> {
        check("clGetPlatformInfo", get_platform_data(self.0, what)).map(|bytes| text(&bytes))
    }
}

/// A device of a platform's list, which OpenCL keeps as long as the process lives.
#[derive(Copy, Clone, Debug)]
pub(crate) struct DeviceId(cl_device_id);

// SAFETY: thread: a device of a platform's list is not released, and the specification (appendix A.2) lets
// all threads call everything but clSetKernelArg at the same time.
unsafe impl Send for DeviceId {}
// SAFETY: thread: as above.
unsafe impl Sync for DeviceId {}

/// All devices of a platform; none is no error.
pub(crate) fn devices(platform: PlatformId) -> Result<Vec<DeviceId>, Error> {
    let _lock = LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    let ids = check(
        "clGetDeviceIDs",
        get_device_ids(platform.0, CL_DEVICE_TYPE_ALL),
    )?;
    Ok(ids.into_iter().map(DeviceId).collect())
}

impl DeviceId {
    pub(crate) fn name(self) -> Result<String, Error> {
        self.data(CL_DEVICE_NAME).map(|bytes| text(&bytes))
    }

    pub(crate) fn vendor(self) -> Result<String, Error> {
        self.data(CL_DEVICE_VENDOR).map(|bytes| text(&bytes))
    }

    pub(crate) fn compute_units(self) -> Result<u32, Error> {
        let bytes = self.data(CL_DEVICE_MAX_COMPUTE_UNITS)?;
        Ok(bytes.first_chunk().copied().map_or(0, u32::from_ne_bytes))
    }

    fn data(self, what: cl_device_info) -> Result<Vec<u8>, Error> {
        check("clGetDeviceInfo", get_device_data(self.0, what))
    }
}

/// A handle that is released when it is dropped.
#[derive(Debug)]
struct Owned {
    handle: *mut c_void,
    release: unsafe fn(*mut c_void) -> Result<(), i32>,
}

// SAFETY: thread: handles belong to no thread, and no call here but clSetKernelArg needs to be alone with
// one (appendix A.2 of the specification); `Unit` makes that call with `&mut self` on a kernel of its own.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: ownership: the handle came from the function that creates what `release` releases, and
        // only `Owned::new`'s callers, which do not keep it, had it.
        let _ = unsafe { (self.release)(self.handle) };
    }
}

impl Owned {
    fn new(handle: *mut c_void, release: unsafe fn(*mut c_void) -> Result<(), i32>) -> Self {
        Self { handle, release }
    }

    fn context(device: DeviceId) -> Result<Self, Error> {
        let context = create_context(&[device.0], ptr::null(), None, ptr::null_mut());
        let context: cl_context = check("clCreateContext", context)?;
        Ok(Self::new(context, release_context))
    }

    /// A buffer of `bytes` bytes.
    fn buffer(context: &Self, flags: u64, bytes: usize) -> Result<Self, Error> {
        // SAFETY: ownership: `context` is a live context; without a host pointer nothing of ours is used.
        let buffer = unsafe { create_buffer(context.handle, flags, bytes, ptr::null_mut()) };
        let buffer: cl_mem = check("clCreateBuffer", buffer)?;
        Ok(Self::new(buffer, release_mem_object))
    }

    /// A queue that runs its commands in their order.
    fn queue(context: &Self, device: DeviceId) -> Result<Self, Error> {
        // SAFETY: ownership: `context` is live, and was made for this device by `Program::build`.
        let queue = unsafe { create_command_queue(context.handle, device.0, 0) };
        let queue: cl_command_queue = check("clCreateCommandQueue", queue)?;
        Ok(Self::new(queue, release_command_queue))
    }
}

/// Writes the whole of `data` to the start of `buffer`, and waits until that is done.
fn write<const LEN: usize>(queue: &Owned, buffer: &Owned, data: &[u8; LEN]) -> Result<(), i32> {
    let data = data.as_ptr().cast();
    // SAFETY: bounds: `data` has LEN bytes, and OpenCL checks that the buffer has; blocking, so that the
    // pointer is not used after the call.
    let event = unsafe {
        enqueue_write_buffer(
            queue.handle,
            buffer.handle,
            CL_BLOCKING,
            0,
            LEN,
            data,
            0,
            ptr::null(),
        )
    };
    event.map(release)
}

/// Reads the start of `buffer`, once all that is in the queue is done.
fn read<const LEN: usize>(queue: &Owned, buffer: &Owned) -> Result<[u8; LEN], Error> {
    let mut data = [0; LEN];
    // SAFETY: bounds: `data` has LEN bytes, and OpenCL checks that the buffer has; blocking, so that the
    // pointer is not used after the call.
    let event = unsafe {
        enqueue_read_buffer(
            queue.handle,
            buffer.handle,
            CL_BLOCKING,
            0,
            LEN,
            data.as_mut_ptr().cast(),
            0,
            ptr::null(),
        )
    };
    check("clEnqueueReadBuffer", event).map(release)?;
    Ok(data)
}

fn release(event: cl_event) {
    // SAFETY: ownership: every caller passes the event that a call just gave it, and forgets it.
    let _ = unsafe { release_event(event) };
}

/// `work.cl` compiled for a device, and what all launches of a task read.
#[derive(Debug)]
pub(crate) struct Program {
    device: DeviceId,
    compiled: Owned,
    constants: Owned,
    queue: Owned,
    context: Owned,
}

impl Program {
    /// Compiles the program, with `options` for the compiler beside those that it needs.
    pub(crate) fn build(device: DeviceId, options: &str) -> Result<Self, Error> {
        let context = Owned::context(device)?;
        let program: cl_program = check(
            "clCreateProgramWithSource",
            create_program_with_source(context.handle, &[SOURCE]),
        )?;
        let program = Owned::new(program, release_program);
        let options = CString::new(format!("-D CAPACITY={CAPACITY} {options}"))
            .expect("options have no zero bytes");
        if let Err(code) =
            build_program(program.handle, &[device.0], &options, None, ptr::null_mut())
        {
            let log = get_program_build_data(program.handle, device.0, CL_PROGRAM_BUILD_LOG);
            let log = log.map_or_else(
                |_| String::new(),
                |bytes| text(&bytes[..bytes.len().min(LOG_BYTES)]),
            );
            return Err(if log.is_empty() {
                Error::Call {
                    call: "clBuildProgram",
                    code,
                }
            } else {
                Error::Build { log }
            });
        }
        Ok(Self {
            device,
            compiled: program,
            constants: Owned::buffer(&context, CL_MEM_READ_ONLY, first_round::LEN * 8)?,
            queue: Owned::queue(&context, device)?,
            context,
        })
    }

    /// What the launches from now on start from. Those under way may see either.
    pub(crate) fn write_constants(&self, words: &[u64; first_round::LEN]) -> Result<(), Error> {
        let mut bytes = [0; first_round::LEN * 8];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        check(
            "clEnqueueWriteBuffer",
            write(&self.queue, &self.constants, &bytes),
        )
    }
}

/// A place for one launch: a queue, and where the program leaves its results.
///
/// Each has a queue of its own, so that waiting for its launch is not waiting for later ones of others.
#[derive(Debug)]
pub(crate) struct Unit {
    device: DeviceId,
    kernel: Owned,
    count: Owned,
    hits: Owned,
    queue: Owned,
}

impl Unit {
    pub(crate) fn new(program: &Program) -> Result<Self, Error> {
        let kernel: cl_kernel = check(
            "clCreateKernel",
            create_kernel(program.compiled.handle, c"search"),
        )?;
        let context = &program.context;
        let mut unit = Self {
            device: program.device,
            kernel: Owned::new(kernel, release_kernel),
            count: Owned::buffer(context, CL_MEM_READ_WRITE, 4)?,
            hits: Owned::buffer(context, CL_MEM_WRITE_ONLY, CAPACITY * 8)?,
            queue: Owned::queue(context, program.device)?,
        };
        unit.set_argument(0, &program.constants.handle)?;
        let count = unit.count.handle;
        unit.set_argument(1, &count)?;
        let hits = unit.hits.handle;
        unit.set_argument(2, &hits)?;
        Ok(unit)
    }

    /// The value that the nonces are to reach, from the next launch on.
    pub(crate) fn set_threshold(&mut self, threshold: u64) -> Result<(), Error> {
        self.set_argument(3, &threshold)
    }

    fn set_argument<T: Copy>(&mut self, index: u32, value: &T) -> Result<(), Error> {
        let value = ptr::from_ref(value).cast();
        // SAFETY: bounds: the size is that of `value`, which OpenCL copies, and it checks both index and
        // size. Ownership: a handle of a buffer is kept alive by OpenCL from the launch to its end, and by
        // `Program` and `Unit` before. Thread: `&mut self` is the kernel's only user.
        let result = unsafe { set_kernel_arg(self.kernel.handle, index, size_of::<T>(), value) };
        check("clSetKernelArg", result)
    }

    /// The most nonces that a group can have.
    pub(crate) fn largest_local_work_size(&self) -> Result<usize, Error> {
        let bytes = get_kernel_work_group_data(
            self.kernel.handle,
            self.device.0,
            CL_KERNEL_WORK_GROUP_SIZE,
        );
        let bytes = check("clGetKernelWorkGroupInfo", bytes)?;
        Ok(bytes.first_chunk().copied().map_or(0, usize::from_ne_bytes))
    }

    /// Starts the search of `threads` nonces from `start` on.
    pub(crate) fn launch(
        &mut self,
        start: u64,
        threads: NonZeroU32,
        local: Option<NonZeroU32>,
    ) -> Result<(), Error> {
        write(&self.queue, &self.count, &[0; 4]).map_err(|code| Error::Reset { code })?;
        self.set_argument(4, &start)?;
        let global = threads.get() as usize;
        let local = local.map(|local| local.get() as usize);
        let local = local.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: bounds: one dimension, and one number for each pointer that is not null. The program
        // reads first_round::LEN words of argument 0, counts in the 4 bytes of argument 1, and writes
        // below CAPACITY in argument 2, which are their sizes in `Program::build` and `Unit::new`.
        let event = unsafe {
            enqueue_nd_range_kernel(
                self.queue.handle,
                self.kernel.handle,
                1,
                ptr::null(),
                &raw const global,
                local,
                0,
                ptr::null(),
            )
        };
        check("clEnqueueNDRangeKernel", event).map(release)?;
        check("clFlush", flush(self.queue.handle))
    }

    /// Waits for the launch: the number of hits, and as many of them as there was room for.
    pub(crate) fn wait(&self) -> Result<(u32, Vec<u64>), Error> {
        let count = u32::from_ne_bytes(read(&self.queue, &self.count)?);
        let mut hits = Vec::new();
        if count > 0 {
            let bytes: [u8; CAPACITY * 8] = read(&self.queue, &self.hits)?;
            let (words, _) = bytes.as_chunks();
            let words = words.iter().copied().map(u64::from_ne_bytes);
            hits.extend(words.take(count as usize));
        }
        Ok((count, hits))
    }

    /// Waits until the queue is empty, or has failed.
    pub(crate) fn finish(&self) {
        let _ = finish(self.queue.handle);
    }
}
