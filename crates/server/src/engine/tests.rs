use std::sync::atomic::AtomicBool;
use std::time::Duration;

use lanework_nano::Kernel;

use super::*;
use crate::worker::Cpu;

const NEVER: u64 = u64::MAX;

fn cpu(workers: usize) -> Engine {
    let kernel = Kernel::from_name("scalar").unwrap();
    let workers = (0..workers).map(|index| Box::new(Cpu::new(kernel, index)) as Box<dyn Worker>);
    Engine::start(workers.collect(), Order::Arrival, 1000).unwrap()
}

fn submit(engine: &Engine, root: u8, threshold: u64) -> Pending {
    engine
        .submit([root; 32], threshold, Urgency::Request, Client::Unknown)
        .unwrap()
}

const IDLE: Load = Load {
    is_searching: false,
    queued: 0,
    waiters: 0,
};

#[tokio::test]
async fn work_is_found_in_turn() {
    let engine = cpu(2);
    for threshold in [0, 1, 0xff00000000000000, 0xfff0000000000000] {
        let pending: Vec<_> = (0..20)
            .map(|root| (root, submit(&engine, root, threshold)))
            .collect();
        for (root, pending) in pending {
            let Outcome::Found { nonce, value, .. } = pending.await else {
                panic!("not found")
            };
            assert_eq!(value, validate(&[root; 32], nonce));
            assert!(value >= threshold);
        }
        assert_eq!(engine.load(), IDLE);
    }
    assert!(engine.meters().iter().map(Meter::hashes).sum::<u64>() >= 80);
}

#[tokio::test]
async fn a_search_without_waiters_stops() {
    let engine = cpu(2);
    let first = submit(&engine, 1, NEVER);
    let second = submit(&engine, 1, NEVER);
    let other = submit(&engine, 2, 0);
    drop(first);
    assert_eq!(
        engine.load(),
        Load {
            is_searching: true,
            queued: 1,
            waiters: 2
        }
    );
    drop(second);
    assert!(matches!(other.await, Outcome::Found { .. }));
    assert_eq!(engine.load(), IDLE);
}

#[tokio::test]
async fn cancel_and_stop_answer_those_who_wait() {
    let engine = cpu(1);
    let cancelled = [submit(&engine, 1, NEVER), submit(&engine, 1, NEVER)];
    let stopped = [submit(&engine, 2, NEVER), submit(&engine, 3, NEVER)];
    assert_eq!(engine.cancel(&[1; 32], None), 2);
    for pending in cancelled {
        assert_eq!(pending.await, Outcome::Cancelled);
    }
    engine.stop();
    for pending in stopped {
        assert_eq!(pending.await, Outcome::Stopping);
    }
    let refused = engine.submit([1; 32], 0, Urgency::Request, Client::Unknown);
    assert_eq!(refused.unwrap_err(), Refusal::Stopping);
    assert_eq!(engine.load(), IDLE);
}

#[tokio::test]
async fn threads_end_with_the_engine() {
    let engine = cpu(3);
    let pending = submit(&engine, 1, NEVER);
    let shared = Arc::downgrade(&engine.shared);
    drop(engine);
    assert_eq!(pending.await, Outcome::Stopping);
    assert_eq!(shared.strong_count(), 0);
}

/// Does what its script says, then nothing useful.
struct Scripted {
    faults: Vec<Result<Batch, Fault>>,
    panics: bool,
}

impl Worker for Scripted {
    fn name(&self) -> String {
        "scripted".to_owned()
    }

    fn search(&mut self, _: &Root, _: u64) -> Result<Batch, Fault> {
        assert!(!self.panics, "as scripted");
        thread::sleep(Duration::from_millis(1));
        self.faults.pop().unwrap_or(Ok(Batch {
            hashes: 1,
            hit: None,
        }))
    }
}

const WRONG: Result<Batch, Fault> = Ok(Batch {
    hashes: 1,
    hit: Some(0),
});

#[tokio::test]
async fn wrong_results_are_not_passed_on_and_end_the_search() {
    let worker = Scripted {
        faults: vec![WRONG; 4],
        panics: false,
    };
    let engine = Engine::start(vec![Box::new(worker)], Order::Arrival, 10).unwrap();
    // Two tasks: the first ends with three wrong results, the second with the next one.
    assert_eq!(submit(&engine, 1, NEVER).await, Outcome::Failed);
    assert_eq!(submit(&engine, 2, NEVER).await, Outcome::Failed);
    assert_eq!(engine.meters()[0].faults(), 4);
    // It gets another chance with the third.
    let pending = submit(&engine, 3, NEVER);
    tokio::time::timeout(Duration::from_millis(30), pending)
        .await
        .unwrap_err();
    assert_eq!(engine.load(), IDLE);
}

#[tokio::test]
async fn a_worker_that_fails_leaves_the_task_to_others() {
    let fatal = || vec![Err(Fault::Fatal("lost".to_owned())); 2];
    let workers: [Box<dyn Worker>; 3] = [
        Box::new(Scripted {
            faults: fatal(),
            panics: false,
        }),
        Box::new(Scripted {
            faults: Vec::new(),
            panics: true,
        }),
        Box::new(Cpu::new(Kernel::from_name("scalar").unwrap(), 2)),
    ];
    let engine = Engine::start(workers.into(), Order::Arrival, 10).unwrap();
    for root in 0..5 {
        assert!(matches!(
            submit(&engine, root, 0xffff000000000000).await,
            Outcome::Found { .. }
        ));
    }
    assert_eq!(engine.load(), IDLE);
}

#[tokio::test]
async fn tasks_are_not_slept_through_after_a_failure() {
    // One worker that fails every task at once: each must be answered, however they overlap.
    let engine = Arc::new(
        Engine::start(
            vec![Box::new(Scripted {
                faults: Vec::new(),
                panics: true,
            })],
            Order::Arrival,
            1000,
        )
        .unwrap(),
    );
    let pending: Vec<_> = (0..50).map(|root| submit(&engine, root, NEVER)).collect();
    for pending in pending {
        let outcome = tokio::time::timeout(Duration::from_secs(10), pending).await;
        assert_eq!(outcome, Ok(Outcome::Failed));
    }
}

#[test]
fn races_leave_nothing_behind() {
    let engine = Arc::new(cpu(2));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for root in 0..4 {
                    engine.cancel(&[root; 32], None);
                }
            }
        });
        let clients: Vec<_> = (0..4u64)
            .map(|seed| {
                let engine = &engine;
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for _ in 0..2000 {
                        let threshold = if random.bool() {
                            0xf000000000000000
                        } else {
                            0xffff000000000000
                        };
                        let root = random.u8(0..4);
                        let mut pending = submit(engine, root, threshold);
                        if random.u8(0..3) > 0 {
                            continue;
                        }
                        while pending.outcome.is_empty() {
                            thread::yield_now();
                        }
                        match pending.outcome.try_recv().unwrap() {
                            Outcome::Found { nonce, .. } => {
                                assert!(validate(&[root; 32], nonce) >= threshold);
                            }
                            other => assert_eq!(other, Outcome::Cancelled),
                        }
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(engine.load(), IDLE);
}
