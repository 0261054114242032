//! Vectors as long as a table is wide or tall: without memory for them there is an error, not an abort.

use lanework_arch::memory;

use crate::Error;

/// The vector of `items`, of which there are `len`.
pub(crate) fn collect<T>(len: usize, items: impl Iterator<Item = T>) -> Result<Vec<T>, Error> {
    let mut vector = Vec::new();
    reserve(&mut vector, len)?;
    vector.extend(items);
    Ok(vector)
}

/// Brings `vector` to `len` elements, the new ones copies of `fill`.
pub(crate) fn resize<T: Copy>(vector: &mut Vec<T>, len: usize, fill: T) -> Result<(), Error> {
    reserve(vector, len.saturating_sub(vector.len()))?;
    vector.resize(len, fill);
    Ok(())
}

fn reserve<T>(vector: &mut Vec<T>, additional: usize) -> Result<(), Error> {
    vector.try_reserve(additional).map_err(|_| {
        let bytes = additional.saturating_mul(size_of::<T>());
        memory::Error::OutOfMemory { bytes }.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let len = isize::MAX as usize / 8;
        let expected = Error::Memory(memory::Error::OutOfMemory { bytes: len * 8 });
        let items = std::iter::repeat_n(0_u64, len);
        assert_eq!(collect(len, items), Err(expected.clone()));
        let mut vector = vec![1_u64];
        let got = resize(&mut vector, len + 1, 0);
        assert_eq!((got, vector), (Err(expected), vec![1]));
    }

    #[test]
    fn memory_that_is_there_is_filled() {
        let mut vector = collect(3, 1..4).expect("a few bytes");
        resize(&mut vector, 2, 0).expect("fewer bytes");
        resize(&mut vector, 4, 0).expect("a few bytes");
        assert_eq!(vector, [1, 2, 0, 0]);
    }
}
