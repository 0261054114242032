//! Bodies of requests to the work server: each is understood, or has one of the known answers.
#![no_main]

use lanework_server::framing;
use lanework_server::reply::Reply;
use lanework_server::request::{Request, Rules, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let rules = Rules::default();
    match parse(bytes, &rules) {
        Ok(Request::Benchmark { count, .. }) => {
            assert!((1..=rules.benchmark_limit).contains(&count))
        }
        Ok(_) => {}
        Err(rejection) => {
            let errors = [
                "Failed to deserialize JSON",
                "Bad block hash",
                "Unknown command",
            ];
            assert!(errors.contains(&rejection.error()));
            let reply = Reply::from(rejection);
            assert_eq!(reply.status, 400);
            assert!(reply.body.starts_with("{\"error\":\"") && reply.body.ends_with("\"}"));
        }
    }
    // The same bytes as the head of a request, and as chunks.
    if let Ok(Some(len)) = framing::head_len(bytes) {
        assert!(len <= bytes.len());
        let _ = framing::body(&bytes[..len]);
    }
    let mut chunks = framing::Chunks::default();
    if let Ok(len) = chunks.read(bytes) {
        assert!(len == bytes.len() || chunks.is_at_end());
    }
});
