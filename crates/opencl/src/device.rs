use crate::{Error, raw};

/// A driver, and the devices that it offers.
#[derive(Clone, Debug)]
pub struct Platform {
    /// Its place in the list, which is stable as long as the drivers installed are.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its maker.
    pub vendor: String,
    /// The version of OpenCL, and of the driver.
    pub version: String,
    /// The devices, in the order of their indices.
    pub devices: Vec<Device>,
}

/// Something that runs programs, as a rule a GPU.
#[derive(Clone, Debug)]
pub struct Device {
    /// The index of the platform.
    pub platform: usize,
    /// Its place among the platform's devices.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its maker.
    pub vendor: String,
    /// The number of its cores, in whatever sense the maker gives the word.
    pub compute_units: u32,
    pub(crate) id: raw::DeviceId,
}

impl Device {
    /// The device of these indices.
    ///
    /// # Errors
    /// If there is no such device, or no OpenCL at all.
    pub fn find(platform: usize, index: usize) -> Result<Self, Error> {
        let platforms = raw::platforms()?;
        let &id = platforms
            .get(platform)
            .ok_or_else(|| match platforms.len() {
                0 => Error::NoPlatform,
                count => Error::PlatformIndex {
                    index: platform,
                    maximum: count - 1,
                },
            })?;
        let devices = raw::devices(id)?;
        let &id = devices.get(index).ok_or_else(|| match devices.len() {
            0 => Error::NoDevice { platform },
            count => Error::DeviceIndex {
                platform,
                index,
                maximum: count - 1,
            },
        })?;
        Self::new(platform, index, id)
    }

    fn new(platform: usize, index: usize, id: raw::DeviceId) -> Result<Self, Error> {
        Ok(Self {
            platform,
            index,
            name: id.name()?,
            vendor: id.vendor()?,
            compute_units: id.compute_units()?,
            id,
        })
    }
}

/// All platforms and their devices.
///
/// # Errors
/// If there is no OpenCL library or no platform, or a driver does not answer.
pub fn platforms() -> Result<Vec<Platform>, Error> {
    let ids = raw::platforms()?;
    if ids.is_empty() {
        return Err(Error::NoPlatform);
    }
    let platform = |(index, id): (usize, &raw::PlatformId)| {
        let devices = raw::devices(*id)?.into_iter().enumerate();
        Ok(Platform {
            index,
            name: id.name()?,
            vendor: id.vendor()?,
            version: id.version()?,
            devices: devices
                .map(|(device, id)| Device::new(index, device, id))
                .collect::<Result<_, _>>()?,
        })
    };
    ids.iter().enumerate().map(platform).collect()
}
