//! What a level adds to the running values: the quotients of its columns, combined.
//!
//! At a point x, with a the challenge and r the running value, F(c) the value of column c, y(c, k) its claim at shift k
//! and z(k) the point of this shift, lineth's definition is
//!
//! ```text
//! v = r a^C + sum over c of a^c  sum over k of (F(c) - y(c, k)) / (x - z(k))
//! ```
//!
//! Columns with the same shifts are a group. With the columns sorted by groups and the claims by shifts, the same is
//!
//! ```text
//! v = r a^C + sum over groups g of (sum over c in g of a^c F(c)) (sum over k of g of 1 / (x - z(k)))
//!           - sum over k of (sum over c of a^c y(c, k)) / (x - z(k))
//! ```
//!
//! so that a base cell costs six products of base elements, and a point as many products in the extension as
//! there are groups and shifts.

use std::collections::HashMap;

use lanework_field::koala::Ext6;
use lanework_field::{Field, KoalaBear};

use super::params::Level;
use crate::schedule::reversed;

/// The combination of the columns of a level.
pub(super) struct Quotient {
    /// In canonical order.
    pub(super) columns: Vec<Column>,
    /// The shifts of each group, as indices of `points`.
    groups: Vec<Vec<usize>>,
    points: Vec<Point>,
    /// a^C.
    running: Ext6,
}

/// What is known of a column.
pub(super) struct Column {
    /// a^c.
    pub(super) coefficient: Ext6,
    pub(super) group: usize,
}

/// A point at which columns are opened.
struct Point {
    /// Zeta times a power of the root of unity.
    at: Ext6,
    /// The sum of a^c y over its claims.
    claims: Ext6,
}

impl Quotient {
    /// The combination with the powers of `alpha`. `claims` are those of the whole statement.
    pub(super) fn new(level: &Level<'_>, zeta: Ext6, claims: &[Ext6], alpha: Ext6) -> Self {
        let root = KoalaBear::two_adic_generator(level.log_rows);
        let (mut columns, mut groups, mut points) = (Vec::new(), Vec::new(), Vec::new());
        let (mut group_of, mut point_of) = (HashMap::new(), HashMap::new());
        let mut claims = &claims[level.claims.clone()];
        let mut power = Ext6::ONE;
        let tables = level.tables.iter();
        for shifts in tables.flat_map(|(_, table)| table.columns()) {
            let mut group: Vec<usize> = Vec::with_capacity(shifts.len());
            let (values, rest) = claims.split_at(shifts.len());
            claims = rest;
            for (&shift, &value) in shifts.iter().zip(values) {
                let index = *point_of.entry(shift).or_insert(points.len());
                if index == points.len() {
                    points.push(Point {
                        at: zeta * root.pow(shift as u64),
                        claims: Ext6::ZERO,
                    });
                }
                points[index].claims += power * value;
                group.push(index);
            }
            group.sort_unstable();
            let index = *group_of.entry(group.clone()).or_insert(groups.len());
            if index == groups.len() {
                groups.push(group);
            }
            columns.push(Column {
                coefficient: power,
                group: index,
            });
            power *= alpha;
        }
        Self {
            columns,
            groups,
            points,
            running: power,
        }
    }

    pub(super) fn groups_len(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn points_len(&self) -> usize {
        self.points.len()
    }

    /// Writes x - z for all points z.
    pub(super) fn denominators(&self, x: KoalaBear, out: &mut [Ext6]) {
        for (out, point) in out.iter_mut().zip(&self.points) {
            *out = Ext6::from_base(x) - point.at;
        }
    }

    /// The value that replaces `running`. `sums` are those of the groups, `inverses` those of the denominators.
    pub(super) fn value(&self, running: Ext6, sums: &[Ext6], inverses: &[Ext6]) -> Ext6 {
        let mut value = running * self.running;
        for (&sum, group) in sums.iter().zip(&self.groups) {
            value += sum * group.iter().map(|&point| inverses[point]).sum::<Ext6>();
        }
        for (&inverse, point) in inverses.iter().zip(&self.points) {
            value -= inverse * point.claims;
        }
        value
    }
}

/// The point of position `position` in a domain of 2^`log_len` points in bit-reversed order.
pub(super) fn point(position: usize, log_len: u32) -> KoalaBear {
    KoalaBear::two_adic_generator(log_len).pow(reversed(position, log_len) as u64)
}
