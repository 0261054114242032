use lanework_field::KoalaBear;

use super::spec::{GNARK_16, GNARK_24, PLONKY3_16, PLONKY3_24, Table};
use crate::Error;

/// The round constants of one parameter set; their numbers are the numbers of rounds.
///
/// The widths are 16 and 24: a table of another width does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundConstants<const WIDTH: usize> {
    pub(crate) initial: Vec<[KoalaBear; WIDTH]>,
    pub(crate) internal: Vec<KoalaBear>,
    pub(crate) terminal: Vec<[KoalaBear; WIDTH]>,
}

impl<const WIDTH: usize> RoundConstants<WIDTH> {
    /// A table of the caller: `initial` holds a row for each full round before the partial rounds,
    /// `internal` the word added to lane 0 in each partial round, `terminal` a row for each full
    /// round after them.
    ///
    /// # Errors
    /// [`Error::UnequalHalves`] if `initial` and `terminal` differ in length,
    /// [`Error::NoFullRound`] if they are empty.
    pub fn new(
        initial: Vec<[KoalaBear; WIDTH]>,
        internal: Vec<KoalaBear>,
        terminal: Vec<[KoalaBear; WIDTH]>,
    ) -> Result<Self, Error> {
        const { assert!(WIDTH == 16 || WIDTH == 24, "the widths are 16 and 24") };
        if initial.len() != terminal.len() {
            let (initial, terminal) = (initial.len(), terminal.len());
            return Err(Error::UnequalHalves { initial, terminal });
        }
        if initial.is_empty() {
            return Err(Error::NoFullRound);
        }
        Ok(Self {
            initial,
            internal,
            terminal,
        })
    }

    /// Every constant: those of the first full rounds, of the partial rounds, of the last full rounds.
    pub fn words(&self) -> impl Iterator<Item = KoalaBear> {
        let initial = self.initial.as_flattened().iter();
        let terminal = self.terminal.as_flattened().iter();
        initial.chain(&self.internal).chain(terminal).copied()
    }

    /// RF, the number of full rounds.
    pub fn full_rounds(&self) -> usize {
        self.initial.len() + self.terminal.len()
    }

    /// RP, the number of partial rounds.
    pub fn partial_rounds(&self) -> usize {
        self.internal.len()
    }

    fn of<const HALF: usize, const PARTIAL: usize>(table: &Table<WIDTH, HALF, PARTIAL>) -> Self {
        Self {
            initial: table
                .initial
                .iter()
                .map(|row| row.map(KoalaBear::new))
                .collect(),
            internal: table
                .internal
                .iter()
                .map(|&word| KoalaBear::new(word))
                .collect(),
            terminal: table
                .terminal
                .iter()
                .map(|row| row.map(KoalaBear::new))
                .collect(),
        }
    }
}

impl RoundConstants<16> {
    /// Plonky3's `default_koalabear_poseidon2_16`: 8 full and 20 partial rounds.
    pub fn plonky3_default() -> Self {
        Self::of(&PLONKY3_16)
    }

    /// gnark-crypto's width 16, as lineth uses it: 6 full and 21 partial rounds.
    pub fn gnark() -> Self {
        Self::of(&GNARK_16)
    }
}

impl RoundConstants<24> {
    /// Plonky3's `default_koalabear_poseidon2_24`: 8 full and 23 partial rounds.
    pub fn plonky3_default() -> Self {
        Self::of(&PLONKY3_24)
    }

    /// gnark-crypto's width 24: 6 full and 21 partial rounds.
    pub fn gnark() -> Self {
        Self::of(&GNARK_24)
    }
}
