use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::{Device, Error, Root, first_round, raw};

/// The launches that are in the device's queues while the host looks at results.
const IN_FLIGHT: usize = 2;

/// How a device is used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The nonces of one launch. More of them make the launches' overhead smaller, and cancelling slower.
    pub threads: NonZeroU32,
    /// The size of the groups that share a core of the device; without it the driver chooses.
    pub local_work_size: Option<NonZeroU32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: NonZeroU32::MIN.saturating_add((1 << 20) - 1),
            local_work_size: None,
        }
    }
}

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The first nonce that was tried.
    pub start: u64,
    /// How many were tried, one after the other; after [`u64::MAX`] comes 0.
    pub nonces: u32,
    /// How many of them the device says are hits.
    pub hits: u32,
    /// Hits, all of them up to [`CANDIDATES`], in no particular order. A device can be wrong, so they
    /// are to be checked.
    pub candidates: Vec<u64>,
}

/// The most hits of one launch that are told apart.
pub const CANDIDATES: usize = raw::CAPACITY;

/// A device that searches.
///
/// ```
/// use lanework_opencl::{Device, Error, Search, Settings};
///
/// fn first_candidate(device: &Device, root: &[u8; 32], threshold: u64) -> Result<u64, Error> {
///     let mut search = Search::new(device, Settings::default())?;
///     search.begin(root, threshold, 0)?;
///     loop {
///         if let [nonce, ..] = search.next_launch()?.candidates[..] {
///             return Ok(nonce);
///         }
///     }
/// }
///
/// match Device::find(0, 0) {
///     Ok(device) => println!("{:016x}", first_candidate(&device, &[7; 32], 0xfff0 << 48)?),
///     Err(error) => eprintln!("{error}"),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Search {
    program: raw::Program,
    settings: Settings,
    idle: Vec<raw::Unit>,
    /// The launches under way with their first nonces, the oldest first.
    running: VecDeque<(u64, raw::Unit)>,
    /// Whether the device has a task.
    begun: bool,
    next: u64,
}

impl Search {
    /// Compiles the program for the device.
    ///
    /// # Errors
    /// If the local work size does not fit the number of threads or the device, or the driver fails.
    pub fn new(device: &Device, settings: Settings) -> Result<Self, Error> {
        Self::with_options(device, settings, "")
    }

    fn with_options(device: &Device, settings: Settings, options: &str) -> Result<Self, Error> {
        if let Some(local) = settings.local_work_size
            && !settings.threads.get().is_multiple_of(local.get())
        {
            return Err(Error::LocalWorkSize {
                threads: settings.threads.get(),
                local: local.get(),
            });
        }
        let program = raw::Program::build(device.id, options)?;
        let units = (0..IN_FLIGHT).map(|_| raw::Unit::new(&program));
        let search = Self {
            idle: units.collect::<Result<_, _>>()?,
            running: VecDeque::new(),
            begun: false,
            next: 0,
            program,
            settings,
        };
        if let Some(local) = settings.local_work_size {
            let maximum = search.idle[0].largest_local_work_size()?;
            if local.get() as usize > maximum {
                return Err(Error::LocalWorkSizeTooLarge {
                    local: local.get(),
                    maximum,
                });
            }
        }
        Ok(search)
    }

    /// Makes the device search for nonces with a value of at least `threshold` for `root`, from `start`
    /// on. What it was doing before is given up, and waited for.
    ///
    /// # Errors
    /// If the device does not take it, and then it has nothing to do.
    pub fn begin(&mut self, root: &Root, threshold: u64, start: u64) -> Result<(), Error> {
        self.give_up();
        self.begun = false;
        // No unit is running, so nobody reads what is written here.
        self.program
            .write_constants(&first_round::constants(root))?;
        for unit in &mut self.idle {
            unit.set_threshold(threshold)?;
        }
        self.next = start;
        self.begun = true;
        Ok(())
    }

    /// Sees to it that two launches are under way, and waits for the older.
    ///
    /// # Errors
    /// If the device fails. What was under way is lost; the search goes on behind it at the next call.
    ///
    /// # Panics
    /// If the device has nothing to do.
    pub fn next_launch(&mut self) -> Result<Launch, Error> {
        assert!(self.begun, "a search begins before it goes on");
        self.launch_and_wait().inspect_err(|_| self.give_up())
    }

    fn launch_and_wait(&mut self) -> Result<Launch, Error> {
        let Settings {
            threads,
            local_work_size,
        } = self.settings;
        while let Some(mut unit) = self.idle.pop() {
            let start = self.next;
            // A unit whose launch failed may be running all the same, and is waited for like others.
            let launched = unit.launch(start, threads, local_work_size);
            self.running.push_back((start, unit));
            launched?;
            self.next = start.wrapping_add(threads.get().into());
        }
        let (start, unit) = self.running.front_mut().expect("every unit is running");
        let (hits, candidates) = unit.wait()?;
        let start = *start;
        self.idle
            .extend(self.running.pop_front().map(|(_, unit)| unit));
        Ok(Launch {
            start,
            nonces: threads.get(),
            hits,
            candidates,
        })
    }

    /// Waits for everything that is under way, whatever comes of it.
    fn give_up(&mut self) {
        for (_, unit) in self.running.drain(..) {
            unit.finish();
            self.idle.push(unit);
        }
    }

    /// The nonce at which the next launch starts that is not under way yet.
    pub fn position(&self) -> u64 {
        self.next
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Devices of one maker rotate words in halves. Others can, and it has to come to the same.
    #[test]
    fn rotations_in_halves_are_rotations() {
        let device = match Device::find(0, 0) {
            Ok(device) => device,
            Err(error) => return lanework_testkit::isas::skip("opencl", &error.to_string()),
        };
        let settings = Settings {
            threads: NonZeroU32::new(1 << 15).unwrap(),
            local_work_size: None,
        };
        for options in ["", "-D ROTATE_IN_HALVES"] {
            let mut search = Search::with_options(&device, settings, options).unwrap();
            search.begin(&[0; 32], 0xffff << 48, 0).unwrap();
            assert_eq!(search.next_launch().unwrap().candidates, [0x5fc6]);
        }
    }

    #[test]
    fn a_failure_loses_what_is_under_way_and_nothing_else() {
        let device = match Device::find(0, 0) {
            Ok(device) => device,
            Err(error) => return lanework_testkit::isas::skip("opencl", &error.to_string()),
        };
        let settings = Settings {
            threads: NonZeroU32::new(1 << 12).unwrap(),
            local_work_size: None,
        };
        let mut search = Search::new(&device, settings).unwrap();
        search.begin(&[0; 32], 0xffff << 48, 0).unwrap();
        assert_eq!(search.next_launch().unwrap().start, 0);
        // A size that the driver refuses. One launch is under way then.
        search.settings.local_work_size = NonZeroU32::new(1 << 30);
        for _ in 0..4 {
            let error = search.next_launch().unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("clEnqueueNDRangeKernel failed: CL_INVALID_WORK_"),
                "{error}"
            );
        }
        assert_eq!((search.idle.len(), search.running.len()), (IN_FLIGHT, 0));
        search.settings = settings;
        let rest: Vec<_> = (0..4).map(|_| search.next_launch().unwrap()).collect();
        assert_eq!(rest[0].start, 2 << 12);
        assert_eq!(rest[3].candidates, [0x5fc6]);
    }

    #[test]
    fn the_compiler_is_quoted() {
        let device = match Device::find(0, 0) {
            Ok(device) => device,
            Err(error) => return lanework_testkit::isas::skip("opencl", &error.to_string()),
        };
        let options = "-D nonce=4";
        match Search::with_options(&device, Settings::default(), options) {
            Err(Error::Build { log }) => assert!(log.contains("error"), "{log}"),
            other => panic!("{other:?}"),
        }
    }
}
