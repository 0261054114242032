//! GPUs that search, by OpenCL. The library is loaded when the first one is asked for.

use lanework_nano::Root;
use lanework_opencl::{Device, Error, Search, Settings};

use crate::worker::{Batch, Fault, Worker};

/// A GPU with a search of its own, two launches deep.
#[derive(Debug)]
pub struct Gpu {
    name: String,
    device: Device,
    settings: Settings,
    /// There is none after the device refused a task; then the next task starts it anew.
    search: Option<Search>,
    /// What the search is for.
    task: Option<(Root, u64)>,
    random: fastrand::Rng,
}

impl Gpu {
    /// The GPU of these indices, made ready. `index` is its place among the server's GPUs.
    ///
    /// # Errors
    /// If there is no such GPU, or it does not take the settings.
    pub fn new(
        index: usize,
        platform: usize,
        device: usize,
        settings: Settings,
    ) -> Result<Self, Error> {
        let device = Device::find(platform, device)?;
        Ok(Self {
            name: format!("gpu-{index}"),
            search: Some(Search::new(&device, settings)?),
            device,
            settings,
            task: None,
            random: fastrand::Rng::new(),
        })
    }

    /// The device behind it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The search, which is for this root and threshold.
    fn search_for(&mut self, root: &Root, threshold: u64) -> Result<&mut Search, Error> {
        let mut search = match self.search.take() {
            Some(search) => search,
            None => Search::new(&self.device, self.settings)?,
        };
        if self.task != Some((*root, threshold)) {
            // Another threshold for the same root goes on where the last one was.
            let start = match self.task.take() {
                Some((last, _)) if last == *root => search.position(),
                _ => self.random.u64(..),
            };
            search.begin(root, threshold, start)?;
            self.task = Some((*root, threshold));
        }
        Ok(self.search.insert(search))
    }
}

impl Worker for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn search(&mut self, root: &Root, threshold: u64) -> Result<Batch, Fault> {
        let search = self
            .search_for(root, threshold)
            .map_err(|error| Fault::Fatal(error.to_string()))?;
        match search.next_launch() {
            Ok(launch) => Ok(Batch {
                hashes: launch.nonces.into(),
                hit: launch.candidates.first().copied(),
            }),
            Err(error @ Error::Reset { .. }) => Err(Fault::Fatal(error.to_string())),
            Err(error) => Err(Fault::Transient(error.to_string())),
        }
    }
}
