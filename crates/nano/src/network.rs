use std::fmt;
use std::str::FromStr;

use crate::Error;

/// A network, which sets the thresholds of its blocks.
///
/// Nano's are those of `nano/lib/config.cpp` in nano-node.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Network {
    /// Nano's main network.
    #[default]
    Live,
    /// Nano's beta network.
    Beta,
    /// The network of nano-node's unit tests.
    Dev,
    /// Banano's main network, where all blocks need the same work.
    Banano,
}

impl Network {
    /// Every network.
    pub const ALL: [Self; 4] = [Self::Live, Self::Beta, Self::Dev, Self::Banano];

    /// The name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Beta => "beta",
            Self::Dev => "dev",
            Self::Banano => "banano",
        }
    }

    /// The highest threshold, to which multipliers are relative.
    pub const fn base(self) -> u64 {
        let send = self.send();
        let epoch_1 = self.epoch_1();
        if send > epoch_1 { send } else { epoch_1 }
    }

    /// The lowest threshold, below which no block is accepted.
    pub const fn entry(self) -> u64 {
        let receive = self.receive();
        let epoch_1 = self.epoch_1();
        if receive < epoch_1 { receive } else { epoch_1 }
    }

    /// The threshold of blocks that send, or change the representative.
    pub const fn send(self) -> u64 {
        match self {
            Self::Live => 0xffff_fff8_0000_0000,
            Self::Beta => 0xffff_f000_0000_0000,
            Self::Dev => 0xffc0_0000_0000_0000,
            Self::Banano => 0xffff_fe00_0000_0000,
        }
    }

    /// The threshold of blocks that receive, open an account, or upgrade it.
    pub const fn receive(self) -> u64 {
        match self {
            Self::Live | Self::Banano => 0xffff_fe00_0000_0000,
            Self::Beta => 0xffff_e000_0000_0000,
            Self::Dev => 0xf000_0000_0000_0000,
        }
    }

    /// The threshold of all blocks before the second epoch, and of blocks without state since.
    pub const fn epoch_1(self) -> u64 {
        match self {
            Self::Live => 0xffff_ffc0_0000_0000,
            Self::Beta => 0xffff_f000_0000_0000,
            Self::Dev => 0xfe00_0000_0000_0000,
            Self::Banano => 0xffff_fe00_0000_0000,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Network {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|network| network.name() == name);
        found.ok_or_else(|| Error::UnknownNetwork {
            name: name.to_owned(),
        })
    }
}
