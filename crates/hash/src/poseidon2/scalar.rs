//! The readable definition of the permutation: the oracle of every kernel, never optimised.

use lanework_field::KoalaBear;

use super::RoundConstants;
use super::spec::{DIAGONAL_16, DIAGONAL_24};

/// The diagonal V of the internal matrix.
pub(crate) fn diagonal<const WIDTH: usize>() -> [KoalaBear; WIDTH] {
    let entries: &[KoalaBear] = if WIDTH == 16 {
        &DIAGONAL_16
    } else {
        &DIAGONAL_24
    };
    std::array::from_fn(|lane| entries[lane])
}

/// Permutes one state.
pub(crate) fn permute<const WIDTH: usize>(
    constants: &RoundConstants<WIDTH>,
    state: &mut [KoalaBear; WIDTH],
) {
    external_layer(state);
    for row in &constants.initial {
        full_round(row, state);
    }
    for &constant in &constants.internal {
        state[0] = (state[0] + constant).cube();
        internal_layer(state);
    }
    for row in &constants.terminal {
        full_round(row, state);
    }
}

fn full_round<const WIDTH: usize>(constants: &[KoalaBear; WIDTH], state: &mut [KoalaBear; WIDTH]) {
    for (word, &constant) in state.iter_mut().zip(constants) {
        *word = (*word + constant).cube();
    }
    external_layer(state);
}

/// Multiplies every block of four lanes by the circulant (2, 3, 1, 1), then adds to every lane the
/// sum of the lanes at the same position of all blocks.
pub(crate) fn external_layer<const WIDTH: usize>(state: &mut [KoalaBear; WIDTH]) {
    for block in state.chunks_exact_mut(4) {
        let sum: KoalaBear = block.iter().copied().sum();
        let input = [block[0], block[1], block[2], block[3]];
        for (i, word) in block.iter_mut().enumerate() {
            let next = input[(i + 1) % 4];
            *word = sum + input[i] + next + next;
        }
    }
    let column: [KoalaBear; 4] =
        std::array::from_fn(|i| state.iter().skip(i).step_by(4).copied().sum());
    for (i, word) in state.iter_mut().enumerate() {
        *word += column[i % 4];
    }
}

/// Multiplies by J + diag(V).
pub(crate) fn internal_layer<const WIDTH: usize>(state: &mut [KoalaBear; WIDTH]) {
    let sum: KoalaBear = state.iter().copied().sum();
    for (word, v) in state.iter_mut().zip(diagonal::<WIDTH>()) {
        *word = sum + v * *word;
    }
}
