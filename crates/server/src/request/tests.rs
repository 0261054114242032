use proptest::prelude::*;
use serde_json::json;

use super::*;

const HASH: &str = "718CC2121C3E641059BC1C2CFC45666C99E8AE922F7A807B7D07B62C995D79E2";
const RECEIVE: u64 = 0xfffffe0000000000;
const SEND: u64 = 0xfffffff800000000;

const DESERIALIZE: &str = "Failed to deserialize JSON";
const BAD_HASH: &str = "Bad block hash";
const HEX: &str = "Expecting a hex string";
const WORK_HEX: &str = "Expecting a hex string for work";
const DIFFICULTY_HEX: &str = "Expecting a hex string for difficulty";
const U64: &str = "Threshold not a valid unsigned long (u64). Example: 'ffffffc000000000'";
const MULTIPLIER: &str = "Expecting a positive number for multiplier";
const COUNT: &str = "Expecting a positive number for count";

/// Every hint that a parser may give, by the error it stands under.
const KNOWN: [(&str, Option<&str>); 16] = [
    (DESERIALIZE, None),
    (DESERIALIZE, Some("Work field missing")),
    (DESERIALIZE, Some("Hash field missing")),
    (DESERIALIZE, Some(WORK_HEX)),
    (DESERIALIZE, Some("Work is empty. Expecting a hex string")),
    (DESERIALIZE, Some("Work is too long (should be 8 bytes)")),
    (DESERIALIZE, Some(DIFFICULTY_HEX)),
    (DESERIALIZE, Some(U64)),
    (DESERIALIZE, Some(MULTIPLIER)),
    (DESERIALIZE, Some("count field missing")),
    (DESERIALIZE, Some(COUNT)),
    (BAD_HASH, Some("Hash is empty. Expecting a hex string")),
    (BAD_HASH, Some(HEX)),
    (BAD_HASH, Some("Hash is too short (should be 32 bytes)")),
    (BAD_HASH, Some("Hash is too long (should be 32 bytes)")),
    (
        "Unknown command",
        Some("Supported commands: work_generate, work_cancel, work_validate, benchmark, status"),
    ),
];

fn parsed(body: &[u8]) -> Result<Request, (&'static str, Option<&'static str>)> {
    parse(body, &Rules::default()).map_err(|rejection| (rejection.error(), rejection.hint()))
}

fn hinted(
    error: &'static str,
    hint: &'static str,
) -> Result<Request, (&'static str, Option<&'static str>)> {
    Err((error, Some(hint)))
}

/// The threshold of a request for work with this field.
fn threshold_of(field: &str, value: &Value) -> Result<u64, (&'static str, Option<&'static str>)> {
    let body = json!({"action": "work_generate", "hash": HASH, field: value}).to_string();
    parsed(body.as_bytes()).map(|request| match request {
        Request::Generate { threshold, .. } => threshold,
        other => panic!("{other:?}"),
    })
}

fn root_bytes() -> Root {
    hex_bytes(HASH).unwrap().try_into().unwrap()
}

#[test]
fn the_json_comes_first() {
    let bad: &[&[u8]] = &[
        b"",
        b"{",
        b"\xef\xbb\xbf{\"action\":\"status\"}",
        b"{\"action\":\"status\"}x",
        b"{\"action\":\"status\"}{}",
        b"{\"action\":\"status\",}",
        b"{\"action\":\"status\"}\0",
        b"{\"action\":\"stat\0us\"}",
        b"{\"action\":\"status\xff\"}",
        b"{\"action\":\"status\",\"x\":\"\xc3\"}",
        br#"{"action":"status","x":"\ud800"}"#,
        br#"{"action":"status","x":"\udc00 "}"#,
        br#"{"action":"status","x":1e999}"#,
        br#"{"action":"status","x":NaN}"#,
        br#"{"action":"status","x":0x10}"#,
        br"{'action':'status'}",
    ];
    for body in bad {
        assert_eq!(
            parsed(body),
            Err((DESERIALIZE, None)),
            "{}",
            body.escape_ascii()
        );
    }
}

#[test]
fn without_an_action_work_is_missing() {
    for body in [
        "[]",
        "3",
        "\"x\"",
        "null",
        "{}",
        "true",
        " [1] ",
        r#"{"Action":"status"}"#,
    ] {
        assert_eq!(
            parsed(body.as_bytes()),
            hinted(DESERIALIZE, "Work field missing"),
            "{body}"
        );
    }
}

#[test]
fn other_actions_are_unknown() {
    for action in [
        "5",
        "null",
        "[]",
        "{}",
        "true",
        "\"\"",
        "\"invalid\"",
        "\"Status\"",
        "\" status\"",
    ] {
        let body = format!(r#"{{"hash":5,"action":{action}}}"#);
        let (error, hint) = parsed(body.as_bytes()).unwrap_err();
        assert_eq!(error, "Unknown command", "{body}");
        assert_eq!(hint, KNOWN[15].1);
    }
}

#[test]
fn keys_may_be_escaped_repeated_and_unknown() {
    let status: &[&str] = &[
        r#"{"\u0061ction":"status"}"#,
        r#"{"action":"\u0073tatus"}"#,
        r#"{"action":"work_generate","action":"status"}"#,
        "\r\n\t {\"action\" : \"status\"} \n",
        r#"{"action":"status","hash":null,"x":[{"y":1e10}],"id":123456789012345678901234567890}"#,
    ];
    for body in status {
        assert_eq!(parsed(body.as_bytes()), Ok(Request::Status), "{body}");
    }
    let body = format!(r#"{{"hash":5,"action":"work_cancel","hash":"{HASH}"}}"#);
    assert_eq!(
        parsed(body.as_bytes()),
        Ok(Request::Cancel { root: root_bytes() })
    );
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        format!(
            r#"{{"action":"status","x":{}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert_eq!(
        parsed(nested(MAX_DEPTH - 1).as_bytes()),
        Ok(Request::Status)
    );
    assert_eq!(
        parsed(nested(MAX_DEPTH).as_bytes()),
        Err((DESERIALIZE, None))
    );
    assert_eq!(
        parsed("[".repeat(60_000).as_bytes()),
        Err((DESERIALIZE, None))
    );
    // Brackets in strings are no nesting.
    let body = format!(r#"{{"action":"status","x":"\"{}"}}"#, "[{".repeat(1000));
    assert_eq!(parsed(body.as_bytes()), Ok(Request::Status));
}

#[test]
fn hashes() {
    let hash = |value: Value| {
        parsed(
            json!({"action": "work_cancel", "hash": value})
                .to_string()
                .as_bytes(),
        )
    };
    let digits = |count: usize| hash(json!("0".repeat(count)));
    assert_eq!(
        hash(json!(HASH)),
        Ok(Request::Cancel { root: root_bytes() })
    );
    assert_eq!(
        hash(json!(HASH.to_lowercase())),
        Ok(Request::Cancel { root: root_bytes() })
    );
    assert_eq!(digits(64), Ok(Request::Cancel { root: [0; 32] }));
    assert_eq!(
        digits(0),
        hinted(BAD_HASH, "Hash is empty. Expecting a hex string")
    );
    for odd in [1, 63, 65, 127] {
        assert_eq!(digits(odd), hinted(BAD_HASH, HEX));
    }
    for short in [2, 62] {
        assert_eq!(
            digits(short),
            hinted(BAD_HASH, "Hash is too short (should be 32 bytes)")
        );
    }
    for long in [66, 128, 4096] {
        assert_eq!(
            digits(long),
            hinted(BAD_HASH, "Hash is too long (should be 32 bytes)")
        );
    }
    let not_hex = [
        json!(null),
        json!(5),
        json!(true),
        json!([HASH]),
        json!("ABC"),
        json!("xy"),
        json!(" 0"),
        json!("+0"),
        json!(format!("0x{}", &HASH[2..])),
        json!("é".repeat(32)),
        json!(format!("{}g", &HASH[1..])),
    ];
    for value in not_hex {
        assert_eq!(hash(value.clone()), hinted(BAD_HASH, HEX), "{value}");
    }
    assert_eq!(
        parsed(br#"{"action":"work_cancel"}"#),
        hinted(DESERIALIZE, "Hash field missing")
    );
}

#[test]
fn works() {
    let work = |value: Value| {
        let body = json!({"action": "work_validate", "hash": HASH, "work": value}).to_string();
        parsed(body.as_bytes()).map(|request| match request {
            Request::Validate {
                work,
                threshold: None,
                ..
            } => work,
            other => panic!("{other:?}"),
        })
    };
    let wrong = |hint| Err((DESERIALIZE, Some(hint)));
    assert_eq!(work(json!("2bf29ef00786a6bc")), Ok(0x2bf29ef00786a6bc));
    assert_eq!(work(json!("2BF29EF00786A6BC")), Ok(0x2bf29ef00786a6bc));
    assert_eq!(work(json!("0f")), Ok(15));
    assert_eq!(work(json!("010600")), Ok(0x10600));
    assert_eq!(
        work(json!("")),
        wrong("Work is empty. Expecting a hex string")
    );
    for odd in [
        "1",
        "2bf29ef00786a6b",
        "02bf29ef00786a6bc",
        "0x",
        "xy",
        "+1",
        " 1",
        "é",
    ] {
        assert_eq!(work(json!(odd)), wrong(WORK_HEX), "{odd}");
    }
    assert_eq!(
        work(json!("002bf29ef00786a6bc")),
        wrong("Work is too long (should be 8 bytes)")
    );
    for value in [json!(null), json!(1), json!([]), json!(false)] {
        assert_eq!(work(value), wrong(WORK_HEX));
    }
    let missing = json!({"action": "work_validate", "hash": HASH}).to_string();
    assert_eq!(
        parsed(missing.as_bytes()),
        hinted(DESERIALIZE, "Work field missing")
    );
}

#[test]
fn difficulties() {
    let good = [
        (json!("0"), 0),
        (json!("ffffffffffffffff"), u64::MAX),
        (json!("FFFFFFC000000000"), 0xffffffc000000000),
        (json!("+ff"), 255),
        (json!("00000000fffffff800000000"), SEND),
        (json!(0), 0),
        (json!(SEND), SEND),
        (json!(u64::MAX), u64::MAX),
    ];
    for (value, threshold) in good {
        assert_eq!(threshold_of("difficulty", &value), Ok(threshold), "{value}");
    }
    for text in [
        "",
        "+",
        "-1",
        "-0",
        "0x10",
        "1ffffffffffffffff",
        " 1",
        "1 ",
        "g",
        "1_000",
        "é",
        "ff.0",
    ] {
        assert_eq!(
            threshold_of("difficulty", &json!(text)),
            Err((DESERIALIZE, Some(U64))),
            "{text}"
        );
    }
    for value in [
        json!(null),
        json!(true),
        json!(1.5),
        json!(1.0),
        json!(-1),
        json!([]),
        json!({}),
        json!(2e19),
    ] {
        assert_eq!(
            threshold_of("difficulty", &value),
            Err((DESERIALIZE, Some(DIFFICULTY_HEX))),
            "{value}"
        );
    }
    let body = format!(
        r#"{{"action":"work_generate","hash":"{HASH}","difficulty":18446744073709551616}}"#
    );
    assert_eq!(parsed(body.as_bytes()), hinted(DESERIALIZE, DIFFICULTY_HEX));
}

#[test]
fn multipliers() {
    let good = [
        (json!("1"), SEND),
        (json!("1.0"), SEND),
        (json!("+1"), SEND),
        (json!("8"), 0xffffffff00000000),
        (json!("8."), 0xffffffff00000000),
        (json!(".5"), 0xfffffff000000000),
        (json!("64"), 0xffffffffe0000000),
        (json!("0.125"), 0xffffffc000000000),
        (json!("0.015625"), RECEIVE),
        (json!("1.5"), 0xfffffffaaaaaaaab),
        (json!("3"), 0xfffffffd55555556),
        (json!("0.001"), 0xffffe0c000000000),
        (json!("34359738368"), u64::MAX),
        (json!("34359738369"), u64::MAX),
        (json!("1e300"), u64::MAX),
        (json!("1e-30"), 0),
        (json!(2), 0xfffffffc00000000),
        (json!(2.5), 0xfffffffccccccccd),
        (json!(1e300), u64::MAX),
    ];
    for (value, threshold) in good {
        assert_eq!(threshold_of("multiplier", &value), Ok(threshold), "{value}");
    }
    let bad = [
        "inf", "-inf", "infinity", "nan", "NaN", "1e400", "1e-400", "0", "-0", "-1", ".", "", " 1",
        "1 ", "0x10", "1,5",
    ];
    let values = [
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!(0),
        json!(-0.0),
        json!(-2),
        json!(0.0),
    ];
    for value in bad.iter().map(|text| json!(text)).chain(values) {
        assert_eq!(
            threshold_of("multiplier", &value),
            Err((DESERIALIZE, Some(MULTIPLIER))),
            "{value}"
        );
    }
}

#[test]
fn a_multiplier_wins_over_a_difficulty_that_is_right() {
    let both = |difficulty: Value, multiplier: Value| {
        let body = json!({
            "action": "work_generate", "hash": HASH, "difficulty": difficulty, "multiplier": multiplier
        });
        parsed(body.to_string().as_bytes())
    };
    let root = root_bytes();
    assert_eq!(
        both(json!("0"), json!("1")),
        Ok(Request::Generate {
            root,
            threshold: SEND
        })
    );
    assert_eq!(both(json!("x"), json!("1")), hinted(DESERIALIZE, U64));
    assert_eq!(both(json!("x"), json!("x")), hinted(DESERIALIZE, U64));
    assert_eq!(
        both(json!("0"), json!("x")),
        hinted(DESERIALIZE, MULTIPLIER)
    );
}

#[test]
fn counts() {
    let count = |value: Value| {
        parsed(
            json!({"action": "benchmark", "count": value})
                .to_string()
                .as_bytes(),
        )
        .map(|request| match request {
            Request::Benchmark {
                threshold: SEND,
                count,
            } => count,
            other => panic!("{other:?}"),
        })
    };
    for (value, expected) in [
        (json!(1), 1),
        (json!("3"), 3),
        (json!("+3"), 3),
        (json!("03"), 3),
        (json!(1000), 1000),
        (json!("1000"), 1000),
    ] {
        assert_eq!(count(value), Ok(expected));
    }
    let bad = [
        json!(0),
        json!(-1),
        json!(3.0),
        json!("0"),
        json!("-1"),
        json!("3.0"),
        json!(""),
        json!(" 3"),
        json!(null),
        json!(1001),
        json!("1001"),
        json!(u64::MAX),
        json!("18446744073709551615"),
        json!("18446744073709551616"),
        json!(1.8446744073709552e19),
        json!([]),
        json!(true),
    ];
    for value in bad {
        assert_eq!(
            count(value.clone()),
            Err((DESERIALIZE, Some(COUNT))),
            "{value}"
        );
    }
    assert_eq!(
        parsed(br#"{"action":"benchmark"}"#),
        hinted(DESERIALIZE, "count field missing")
    );
}

#[test]
fn the_first_mistake_wins() {
    let order = [
        (
            json!({"action": "work_generate", "difficulty": "x"}),
            "Hash field missing",
        ),
        (
            json!({"action": "work_generate", "hash": HASH, "difficulty": 1.5, "multiplier": 0}),
            DIFFICULTY_HEX,
        ),
        (
            json!({"action": "work_validate", "work": "", "difficulty": ""}),
            "Hash field missing",
        ),
        (
            json!({"action": "work_validate", "hash": HASH, "difficulty": ""}),
            "Work field missing",
        ),
        (
            json!({"action": "work_validate", "hash": HASH, "work": "1", "difficulty": ""}),
            WORK_HEX,
        ),
        (
            json!({"action": "work_validate", "hash": HASH, "work": "11", "difficulty": "", "multiplier": ""}),
            U64,
        ),
        (
            json!({"action": "benchmark", "difficulty": "", "multiplier": ""}),
            U64,
        ),
        (
            json!({"action": "benchmark", "multiplier": "", "count": 0}),
            MULTIPLIER,
        ),
        (
            json!({"action": "benchmark", "multiplier": 1}),
            "count field missing",
        ),
    ];
    for (body, hint) in order {
        assert_eq!(
            parsed(body.to_string().as_bytes()),
            hinted(DESERIALIZE, hint),
            "{body}"
        );
    }
    let fields = json!({"action": "work_cancel", "hash": HASH, "difficulty": "x", "multiplier": [], "work": 1});
    assert!(parsed(fields.to_string().as_bytes()).is_ok());
}

#[test]
fn what_nodes_and_wallets_send() {
    let node = format!(
        "{{\n    \"action\": \"work_generate\",\n    \"hash\": \"{HASH}\",\n    \"difficulty\": \"{RECEIVE:016x}\",\n    \
         \"account\": \"nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3\"\n}}\n"
    );
    let expected = Ok(Request::Generate {
        root: root_bytes(),
        threshold: RECEIVE,
    });
    assert_eq!(parsed(node.as_bytes()), expected);
    let betsy = json!({"action": "work_generate", "hash": HASH, "reward": true, "difficulty": "fffffe0000000000"});
    assert_eq!(parsed(betsy.to_string().as_bytes()), expected);
    let proxy = json!({
        "action": "work_generate", "hash": HASH, "user": "u", "api_key": "k", "timeout": 15, "use_peers": true,
        "multiplier": "0.015625",
    });
    assert_eq!(parsed(proxy.to_string().as_bytes()), expected);
}

/// JSON near what clients send: the known keys with values of all kinds.
fn near_requests() -> impl Strategy<Value = String> {
    let action = prop::sample::select(vec![
        r#""work_generate""#,
        r#""work_cancel""#,
        r#""work_validate""#,
        r#""benchmark""#,
        r#""status""#,
        "null",
    ]);
    let value = prop_oneof![
        Just(format!("{HASH:?}")),
        "\"[0-9a-fA-FxX+. -]{0,20}\"",
        "-?[0-9]{1,22}(\\.[0-9]{1,3})?(e-?[0-9]{1,3})?",
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("[]".to_owned()),
        any::<String>().prop_map(|text| Value::String(text).to_string()),
    ];
    let key = prop::sample::select(vec![
        "hash",
        "work",
        "difficulty",
        "multiplier",
        "count",
        "x",
    ]);
    (action, prop::collection::vec((key, value), 0..6)).prop_map(|(action, fields)| {
        let fields = fields
            .into_iter()
            .map(|(key, value)| format!(",\"{key}\":{value}"));
        format!("{{\"action\":{action}{}}}", fields.collect::<String>())
    })
}

proptest! {
    #[test]
    fn any_bytes_have_a_known_answer(body in any::<Vec<u8>>()) {
        if let Err(rejection) = parsed(&body) {
            prop_assert!(KNOWN.contains(&rejection));
        }
    }

    #[test]
    fn any_request_has_a_known_answer(body in near_requests()) {
        match parsed(body.as_bytes()) {
            Err(rejection) => prop_assert!(KNOWN.contains(&rejection)),
            Ok(Request::Benchmark { count, .. }) => prop_assert!((1..=1000).contains(&count)),
            Ok(_) => {}
        }
    }

    #[test]
    fn hex_is_read_as_it_is_written(bytes in any::<Vec<u8>>()) {
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = digits.concat();
        prop_assert_eq!(hex_bytes(&text), Some(bytes));
    }
}
