//! Readers of the committed known answers.
//!
//! A missing name or a field of another type is a mistake in the test, and panics with the name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One known answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Vector {
    /// The name, unique in its file.
    pub name: String,
    /// The public origin, and whether it was recomputed independently.
    pub source: String,
    input: BTreeMap<String, Value>,
    output: BTreeMap<String, Value>,
}

impl Vector {
    /// The input field `key`.
    pub fn input<T: DeserializeOwned>(&self, key: &str) -> T {
        self.field(&self.input, "input", key)
    }

    /// The output field `key`.
    pub fn output<T: DeserializeOwned>(&self, key: &str) -> T {
        self.field(&self.output, "output", key)
    }

    /// The input fields.
    pub fn inputs(&self) -> &BTreeMap<String, Value> {
        &self.input
    }

    /// The output fields.
    pub fn outputs(&self) -> &BTreeMap<String, Value> {
        &self.output
    }

    fn field<T: DeserializeOwned>(
        &self,
        fields: &BTreeMap<String, Value>,
        side: &str,
        key: &str,
    ) -> T {
        let name = &self.name;
        let value = fields
            .get(key)
            .unwrap_or_else(|| panic!("{name}: no {side} {key}"));
        T::deserialize(value).unwrap_or_else(|error| panic!("{name}: {side} {key}: {error}"))
    }
}

/// The known answers of one file.
#[derive(Clone, Debug, Deserialize)]
pub struct Vectors {
    vectors: Vec<Vector>,
}

impl Vectors {
    /// The vector called `name`.
    pub fn get(&self, name: &str) -> &Vector {
        let found = self.vectors.iter().find(|vector| vector.name == name);
        found.unwrap_or_else(|| panic!("no vector is called {name}"))
    }

    /// The vectors whose names start with `prefix`, of which there is at least one.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Vector> {
        let matches = move |vector: &&Vector| vector.name.starts_with(prefix);
        assert!(
            self.vectors.iter().any(|vector| matches(&vector)),
            "no vector starts with {prefix}"
        );
        self.vectors.iter().filter(matches)
    }
}

/// The vectors of `koalabear.json`: the field, Poseidon2, hash modes, trees, encodings and FRI.
pub fn koalabear() -> &'static Vectors {
    static VECTORS: OnceLock<Vectors> = OnceLock::new();
    VECTORS.get_or_init(|| read("koalabear.json"))
}

/// The vectors of `binary.json`: fields of characteristic 2, the additive transform, trees of BLAKE2s and
/// WHIR. Words are hexadecimal texts, see [`word`].
pub fn binary() -> &'static Value {
    static VECTORS: OnceLock<Value> = OnceLock::new();
    VECTORS.get_or_init(|| read("binary.json"))
}

/// The number that a hexadecimal text such as `0x1b` stands for.
pub fn word(value: &Value) -> u64 {
    let text = value
        .as_str()
        .unwrap_or_else(|| panic!("not a text: {value}"));
    u64::from_str_radix(text.trim_start_matches("0x"), 16)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The numbers of a list of hexadecimal texts.
pub fn words(value: &Value) -> Vec<u64> {
    let list = value
        .as_array()
        .unwrap_or_else(|| panic!("not a list: {value}"));
    list.iter().map(word).collect()
}

/// A published Poseidon2 parameter set, in canonical integers.
#[derive(Clone, Debug, Deserialize)]
pub struct PermutationConstants {
    /// The number of full rounds.
    pub rf: usize,
    /// The number of partial rounds.
    pub rp: usize,
    /// The constants of the full rounds before the partial ones.
    pub initial: Vec<Vec<u32>>,
    /// The constants of the partial rounds.
    pub internal: Vec<u32>,
    /// The constants of the full rounds after the partial ones.
    pub terminal: Vec<Vec<u32>>,
}

/// A parameter set of `poseidon2_constants.json`, such as `plonky3_default_w16` or `gnark_w24`.
pub fn permutation_constants(name: &str) -> PermutationConstants {
    constants(name)
}

/// An internal diagonal of `poseidon2_constants.json`: `diag_w16`, `diag_w24`.
pub fn diagonal(name: &str) -> Vec<u32> {
    constants(name)
}

fn constants<T: DeserializeOwned>(name: &str) -> T {
    static SETS: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    let sets = SETS.get_or_init(|| read("poseidon2_constants.json"));
    let set = sets
        .get(name)
        .unwrap_or_else(|| panic!("no constants are called {name}"));
    T::deserialize(set).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A published root of a lineth commitment.
#[derive(Clone, Debug, Deserialize)]
pub struct LinethRoot {
    /// The shape, as `2^rows x columns`.
    pub name: String,
    /// The number of rows is 2^`log_rows`.
    pub log_rows: u32,
    /// The number of base columns.
    pub columns: usize,
    /// The code is 2^`log_inverse_rate` times as long as the message.
    pub log_inverse_rate: u32,
    /// The root as Montgomery words.
    pub montgomery_words: [u32; 8],
    /// The root as canonical integers.
    pub canonical: [u32; 8],
}

/// The roots of `lineth_roots.json`, for tables generated from seed 1.
pub fn lineth_roots() -> &'static [LinethRoot] {
    #[derive(Deserialize)]
    struct File {
        roots: Vec<LinethRoot>,
    }
    static FILE: OnceLock<File> = OnceLock::new();
    &FILE.get_or_init(|| read("lineth_roots.json")).roots
}

/// Where the known answers are, whichever crate's test asks.
pub fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("vectors")
        .join(file)
}

fn read<T: DeserializeOwned>(file: &str) -> T {
    let path = path(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
