//! Thresholds and multipliers. Floating-point numbers are compared exactly where the source prints them.
#![expect(clippy::float_cmp, reason = "published results")]

use lanework_nano::multiplier::{from_multiplier, normalized, to_multiplier};
use lanework_nano::{Error, Network, expected_hashes};

const BASE: u64 = 0xffff_fff8_0000_0000;

#[test]
fn multipliers_of_the_node() {
    for (base, difficulty, multiplier) in [
        (
            0xff00_0000_0000_0000,
            0xfff2_7e7a_57c2_85cd,
            18.95461493377003,
        ),
        (0xffff_ffc0_0000_0000, 0xffff_fe00_0000_0000, 0.125),
        (u64::MAX, 0xffff_ffff_ffff_ff00, 0.00390625),
        (1 << 63, 0xf000_0000_0000_0000, 8.0),
    ] {
        assert_eq!(to_multiplier(difficulty, base), multiplier, "{base:016x}");
        assert_eq!(from_multiplier(multiplier, base), difficulty, "{base:016x}");
    }
    assert_eq!(from_multiplier(1.001, u64::MAX), u64::MAX);
    assert_eq!(from_multiplier(0.999, 1), 0);
}

#[test]
fn difficulties_of_multipliers() {
    for (multiplier, difficulty) in [
        (1.0, 0xffff_fff8_0000_0000),
        (8.0, 0xffff_ffff_0000_0000),
        (64.0, 0xffff_ffff_e000_0000),
        (0.125, 0xffff_ffc0_0000_0000),
        (0.015625, 0xffff_fe00_0000_0000),
        (1.5, 0xffff_fffa_aaaa_aaab),
        (3.0, 0xffff_fffd_5555_5556),
        (0.001, 0xffff_e0c0_0000_0000),
        (34_359_738_368.0, u64::MAX),
        // Beyond either end.
        (34_359_738_369.0, u64::MAX),
        (1e300, u64::MAX),
        (f64::INFINITY, u64::MAX),
        (1e-30, 0),
        (f64::MIN_POSITIVE, 0),
        (0.0, 0),
        (-0.0, 0),
        (-1.0, 0),
        (f64::NEG_INFINITY, 0),
        (f64::NAN, 0),
    ] {
        assert_eq!(
            from_multiplier(multiplier, BASE),
            difficulty,
            "{multiplier}"
        );
    }
    assert_eq!(from_multiplier(1.0, 0), 0);
    assert_eq!(from_multiplier(8.0, 0), 0);
}

#[test]
fn texts_of_multipliers() {
    for (difficulty, text) in [
        (0xffff_ffd2_1c39_33f4, "0.17433086091718653"),
        (0xffff_fff9_3c41_ec94, "1.1826238710976358"),
        (0xffff_ffff_2877_41bf, "9.501974378880858"),
        (0xffff_fff8_0000_0000, "1"),
        (0xffff_ffc0_0000_0000, "0.125"),
        (0, "0.000000001862645149230957"),
    ] {
        assert_eq!(to_multiplier(difficulty, BASE).to_string(), text);
    }
}

#[test]
fn normalized_multipliers() {
    assert_eq!(normalized(1.0, 64.0), 1.0);
    assert_eq!(normalized(65.0, 64.0), 2.0);
    assert_eq!(normalized(9.0, 8.0), 2.0);
}

#[test]
fn expectations() {
    assert_eq!(expected_hashes(Network::Live.send()), 536_870_912.0);
    assert_eq!(expected_hashes(Network::Live.epoch_1()), 67_108_864.0);
    assert_eq!(expected_hashes(Network::Live.receive()), 8_388_608.0);
    assert_eq!(expected_hashes(u64::MAX), 18_446_744_073_709_551_616.0);
    assert_eq!(expected_hashes(0), 1.0);
}

#[test]
fn networks() {
    let live = Network::Live;
    assert_eq!(Network::default(), live);
    assert_eq!((live.base(), live.entry()), (live.send(), live.receive()));
    assert_eq!(to_multiplier(live.send(), live.epoch_1()), 8.0);
    assert_eq!(to_multiplier(live.receive(), live.epoch_1()), 0.125);
    assert_eq!(to_multiplier(live.send(), Network::Beta.send()), 512.0);
    assert_eq!(Network::Beta.base(), 0xffff_f000_0000_0000);
    assert_eq!(Network::Beta.entry(), 0xffff_e000_0000_0000);
    assert_eq!(Network::Dev.base(), 0xffc0_0000_0000_0000);
    assert_eq!(Network::Dev.entry(), 0xf000_0000_0000_0000);
    assert_eq!(Network::Dev.epoch_1(), 0xfe00_0000_0000_0000);
    let banano = Network::Banano;
    for threshold in [
        banano.base(),
        banano.entry(),
        banano.send(),
        banano.receive(),
        banano.epoch_1(),
    ] {
        assert_eq!(threshold, 0xffff_fe00_0000_0000);
    }
    for network in Network::ALL {
        assert_eq!(network.to_string().parse(), Ok(network));
    }
    let error = "nyan".parse::<Network>().expect_err("no such network");
    assert_eq!(
        error,
        Error::UnknownNetwork {
            name: "nyan".into()
        }
    );
    assert!(error.to_string().contains("hint: "));
}
