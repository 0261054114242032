//! Views of Plonky3's field elements as ours and back, without a copy.
//!
//! Both types are `repr(transparent)` over one `u32`, which holds the element as a Montgomery word in
//! [0, p) with R = 2^32. Plonky3 says so of `MontyField31`, and the assertions below hold it to that.
#![expect(
    unsafe_code,
    reason = "both elements are the same transparent word, for which neither crate offers a conversion of slices"
)]

use std::mem::MaybeUninit;

use lanework_arch::memory::prefer_huge_pages;
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear as Element;
use lanework_hash::{DIGEST_LEN, Digest};
use p3_koala_bear::KoalaBear;

const _: () = {
    assert!(size_of::<Element>() == size_of::<u32>() && size_of::<KoalaBear>() == size_of::<u32>());
    assert!(align_of::<Element>() == align_of::<u32>());
    assert!(align_of::<KoalaBear>() == align_of::<u32>());
    assert!(size_of::<Digest>() == DIGEST_LEN * size_of::<u32>());
    assert!(align_of::<Digest>() == align_of::<u32>());
    let values = [0, 1, 2, 0x1234_5678, lanework_field::koala::spec::P - 1];
    let mut i = 0;
    while i < values.len() {
        // SAFETY: layout: a word, as asserted above.
        let word: u32 = unsafe { std::mem::transmute(KoalaBear::new(values[i])) };
        assert!(word == Element::new(values[i]).montgomery_word());
        i += 1;
    }
};

/// The same element.
#[inline(always)]
pub(crate) fn element(element: KoalaBear) -> Element {
    // SAFETY: layout: both are one word with the same meaning, as asserted above.
    unsafe { std::mem::transmute(element) }
}

/// The same element.
#[inline(always)]
pub(crate) fn to_plonky3(element: Element) -> KoalaBear {
    // SAFETY: layout: both are one word with the same meaning, as asserted above.
    unsafe { std::mem::transmute(element) }
}

/// The same elements.
pub(crate) fn elements(elements: &[KoalaBear]) -> &[Element] {
    let len = elements.len();
    // SAFETY: layout: words with the same meaning, as asserted above. bounds: those of the slice.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), len) }
}

/// The same elements, to write.
pub(crate) fn elements_mut(elements: &mut [KoalaBear]) -> &mut [Element] {
    let len = elements.len();
    // SAFETY: layout: words with the same meaning, and every value of one type is one of the other, as
    // asserted above. bounds: those of the slice, whose borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) }
}

/// The elements, eight by eight.
///
/// # Panics
/// If they are not whole digests.
pub(crate) fn digests(elements: &[KoalaBear]) -> &[Digest] {
    assert!(elements.len().is_multiple_of(DIGEST_LEN), "whole digests");
    let len = elements.len() / DIGEST_LEN;
    // SAFETY: layout: a digest is `repr(transparent)` over eight elements, as asserted above. bounds:
    // those of the slice, which holds whole digests.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), len) }
}

/// The words of a digest.
#[inline(always)]
pub(crate) fn words(digest: Digest) -> [KoalaBear; DIGEST_LEN] {
    digest.0.map(to_plonky3)
}

/// Elements of a page, the smallest there are.
const PAGE: usize = 1 << 10;

/// Elements that one thread writes at a time: a huge page.
const CHUNK: usize = 1 << 19;

/// Makes `values` `len` elements long, the new ones zero. All threads write them, so that they share
/// the page faults.
///
/// # Panics
/// If the length shrinks or the memory is not there.
pub(crate) fn grow(values: &mut Vec<KoalaBear>, len: usize) {
    let fill = |_: &mut [Element], spare: &mut [MaybeUninit<Element>]| {
        let written = spare.len();
        Threads::current().for_each(spare.chunks_mut(CHUNK), |chunk| {
            for element in chunk {
                element.write(Element::ZERO);
            }
        });
        written
    };
    // SAFETY: bounds: the chunks are all of `spare`, and each element of a chunk is written.
    unsafe { grow_with(values, len, fill) }
}

/// Makes `values` `len` elements long, the new ones being what `fill` writes, which gets the old ones and the memory of the
/// new ones. It writes every element once, and says how many that were.
///
/// # Panics
/// If the length shrinks, the memory is not there, or not all elements were written.
///
/// # Safety
/// `fill` writes no element twice, so that as many writes as there are elements have reached all of them.
pub(crate) unsafe fn grow_with(
    values: &mut Vec<KoalaBear>,
    len: usize,
    fill: impl FnOnce(&mut [Element], &mut [MaybeUninit<Element>]) -> usize,
) {
    let old_len = values.len();
    let additional = len.checked_sub(old_len).expect("a greater length");
    values.reserve_exact(additional);
    let base = values.as_mut_ptr();
    // SAFETY: layout: words with the same meaning, as asserted above, or nothing yet. bounds: the first `old_len` elements
    // are those of the vector, and the `additional` ones after them lie within its capacity, as reserved above. Both are
    // borrowed from `values` through one pointer, and do not overlap.
    let (old, spare) = unsafe {
        (
            std::slice::from_raw_parts_mut(base.cast::<Element>(), old_len),
            std::slice::from_raw_parts_mut(
                base.add(old_len).cast::<MaybeUninit<Element>>(),
                additional,
            ),
        )
    };
    // Rows are written far apart, and by several threads at the same time: these would all wait for each page. So pages
    // are there before, and large ones where the system grants them.
    prefer_huge_pages(spare);
    Threads::current().for_each(spare.chunks_mut(CHUNK), |chunk| {
        for page in chunk.chunks_mut(PAGE) {
            page[0].write(Element::ZERO);
        }
    });
    let written = fill(old, spare);
    assert_eq!(written, additional, "elements written");
    // SAFETY: bounds: the capacity was reserved above, and all elements up to `len` are written: `fill` writes none twice, as the
    // caller says, and as many as there are.
    unsafe { values.set_len(len) };
}
