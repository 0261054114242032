use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

type Small = Queue<u8, u32>;

fn queue(order: Order, capacity: usize) -> Small {
    Queue::new(order, capacity, 2, fastrand::Rng::with_seed(1))
}

fn ask(root: u8, threshold: u64, reply: u32) -> Ask<u8, u32> {
    Ask {
        root: [root; 32],
        threshold,
        urgency: Urgency::Request,
        client: 0,
        reply,
    }
}

fn benchmark(root: u8, reply: u32) -> Ask<u8, u32> {
    Ask {
        urgency: Urgency::Benchmark,
        ..ask(root, 1, reply)
    }
}

fn replies(settled: Vec<Settled<u32>>) -> Vec<u32> {
    settled.into_iter().map(|settled| settled.reply).collect()
}

fn root_of(queue: &Small) -> Option<u8> {
    queue.job(0).map(|job| job.root[0])
}

#[test]
fn tasks_are_searched_by_arrival() {
    let (mut queue, now) = (queue(Order::Arrival, 10), Instant::now());
    for root in 0..4 {
        queue.submit(ask(root, 5, u32::from(root)), now).unwrap();
    }
    assert_eq!(
        (queue.queued(), queue.waiters(), queue.is_searching()),
        (3, 4, true)
    );
    for root in 0..4 {
        let job = queue.job(1).unwrap();
        assert_eq!((job.root, job.threshold), ([root; 32], 5));
        assert_eq!(replies(queue.found(job.task, 1, 5, now)), [u32::from(root)]);
        assert_ne!(queue.version(), job.version);
        assert!(queue.found(job.task, 1, 5, now).is_empty());
    }
    assert_eq!(
        (queue.queued(), queue.waiters(), queue.is_searching()),
        (0, 0, false)
    );
    assert_eq!(queue.job(0), None);
}

#[test]
fn random_order_serves_everyone_once_and_not_by_arrival() {
    let (mut queue, now) = (queue(Order::Random, 100), Instant::now());
    for root in 0..50 {
        queue.submit(ask(root, 0, u32::from(root)), now).unwrap();
    }
    let mut served = Vec::new();
    while let Some(job) = queue.job(0) {
        served.push(job.root[0]);
        assert_eq!(queue.found(job.task, 0, 0, now).len(), 1);
    }
    assert!(!served.is_sorted());
    served.sort_unstable();
    assert_eq!(served, (0..50).collect::<Vec<u8>>());
}

#[test]
fn duplicates_join_and_each_gets_what_it_asked_for() {
    for order in [[10, 20, 30], [30, 20, 10], [20, 30, 10]] {
        let (mut queue, now) = (queue(Order::Arrival, 0), Instant::now());
        for threshold in order {
            queue
                .submit(ask(7, threshold, threshold as u32), now)
                .unwrap();
        }
        assert_eq!((queue.queued(), queue.waiters()), (0, 3));
        let job = queue.job(0).unwrap();
        assert_eq!(job.threshold, 10);
        assert!(queue.found(job.task, 1, 9, now).is_empty());
        assert_eq!(queue.job(0), Some(job));
        assert_eq!(replies(queue.found(job.task, 1, 20, now)), [10, 20]);
        let higher = queue.job(0).unwrap();
        assert_eq!((higher.task, higher.threshold), (job.task, 30));
        assert_ne!(higher.version, job.version);
        assert!(queue.found(job.task, 1, 29, now).is_empty());
        assert_eq!(replies(queue.found(job.task, 1, u64::MAX, now)), [30]);
        assert!(!queue.is_searching());
    }
}

#[test]
fn work_for_an_old_task_does_not_answer_a_new_one_of_the_same_root() {
    let (mut queue, now) = (queue(Order::Arrival, 10), Instant::now());
    queue.submit(ask(7, 1, 1), now).unwrap();
    let low = queue.job(0).unwrap();
    assert_eq!(replies(queue.found(low.task, 1, 1, now)), [1]);
    queue.submit(ask(7, 100, 2), now).unwrap();
    // The other worker was late for the first task.
    assert!(queue.found(low.task, 2, 50, now).is_empty());
    let high = queue.job(0).unwrap();
    assert_ne!(low.task, high.task);
    assert!(queue.found(high.task, 2, 99, now).is_empty());
    assert_eq!(replies(queue.found(high.task, 2, 100, now)), [2]);
}

#[test]
fn a_lower_threshold_lowers_a_running_search() {
    let (mut queue, now) = (queue(Order::Arrival, 10), Instant::now());
    queue.submit(ask(7, 100, 1), now).unwrap();
    let before = queue.job(0).unwrap();
    let higher = queue.submit(ask(7, 200, 2), now).unwrap();
    assert_eq!(queue.job(0), Some(before));
    let lower = queue.submit(ask(7, 50, 3), now).unwrap();
    let lowered = queue.job(0).unwrap();
    assert_eq!(lowered.threshold, 50);
    assert_ne!(lowered.version, before.version);
    assert_eq!(queue.leave(lower, now), Some(3));
    assert_eq!(queue.job(0).unwrap().threshold, 100);
    assert_eq!(queue.leave(higher, now), Some(2));
    assert_eq!(queue.leave(higher, now), None);
    assert!(queue.is_searching());
}

#[test]
fn cancel_tells_everyone_and_starts_the_next() {
    let (mut queue, now) = (queue(Order::Arrival, 10), Instant::now());
    for (root, reply) in [(1, 1), (2, 2), (1, 3), (3, 4)] {
        queue.submit(ask(root, 9, reply), now).unwrap();
    }
    assert_eq!(replies(queue.cancel(&[1; 32], None, now)), [1, 3]);
    assert_eq!((root_of(&queue), queue.queued()), (Some(2), 1));
    assert_eq!(replies(queue.cancel(&[3; 32], None, now)), [4]);
    assert_eq!((root_of(&queue), queue.queued()), (Some(2), 0));
    assert!(queue.cancel(&[9; 32], None, now).is_empty());
    assert_eq!(replies(queue.cancel(&[2; 32], None, now)), [2]);
    assert!(!queue.is_searching());
}

#[test]
fn cancel_may_be_limited_to_the_owner() {
    let (mut queue, now) = (queue(Order::Arrival, 10), Instant::now());
    queue
        .submit(
            Ask {
                client: 1,
                ..ask(7, 9, 1)
            },
            now,
        )
        .unwrap();
    queue
        .submit(
            Ask {
                client: 2,
                ..ask(7, 5, 2)
            },
            now,
        )
        .unwrap();
    assert!(queue.cancel(&[7; 32], Some(&3), now).is_empty());
    assert_eq!(replies(queue.cancel(&[7; 32], Some(&2), now)), [2]);
    assert_eq!(queue.job(0).unwrap().threshold, 9);
    assert_eq!(replies(queue.cancel(&[7; 32], Some(&1), now)), [1]);
    assert!(!queue.is_searching());
}

#[test]
fn the_queue_is_bounded() {
    let (mut queue, now) = (queue(Order::Arrival, 2), Instant::now());
    for root in 0..3 {
        queue.submit(ask(root, 9, 0), now).unwrap();
    }
    let refused = queue.submit(ask(3, 9, 42), now).unwrap_err();
    assert_eq!(refused.reply, 42);
    // A request that joins needs no place.
    queue.submit(ask(2, 9, 0), now).unwrap();
    assert_eq!((queue.queued(), queue.waiters()), (2, 4));
    assert_eq!(queue.cancel(&[0; 32], None, now).len(), 1);
    queue.submit(ask(3, 9, 0), now).unwrap();
    assert_eq!(queue.queued(), 2);
}

#[test]
fn requests_push_benchmarks_aside() {
    let (mut queue, now) = (queue(Order::Arrival, 10), Instant::now());
    queue.submit(benchmark(1, 1), now).unwrap();
    queue.submit(benchmark(2, 2), now).unwrap();
    let first = queue.job(0).unwrap();
    queue.submit(ask(3, 9, 3), now).unwrap();
    assert_eq!((root_of(&queue), queue.queued()), (Some(3), 2));
    // What a worker found before it looked up still counts.
    assert_eq!(replies(queue.found(first.task, 0, 1, now)), [1]);
    assert_eq!((root_of(&queue), queue.queued()), (Some(3), 1));
    let request = queue.job(0).unwrap();
    assert_eq!(replies(queue.found(request.task, 0, 9, now)), [3]);
    assert_eq!((root_of(&queue), queue.queued()), (Some(2), 0));
}

#[test]
fn a_task_fails_when_all_workers_have_given_up() {
    let (mut queue, now) = (queue(Order::Arrival, 10), Instant::now());
    queue.submit(ask(1, 9, 1), now).unwrap();
    queue.submit(ask(2, 9, 2), now).unwrap();
    let job = queue.job(0).unwrap();
    assert!(queue.give_up(job.task, 0, now).is_empty());
    assert!(queue.give_up(job.task, 0, now).is_empty());
    assert_eq!(queue.job(0), None);
    assert_eq!(queue.job(1), Some(job));
    let failed = queue.give_up(job.task, 1, now);
    assert_eq!(failed[0].outcome, Outcome::Failed);
    // Both are back for the next task.
    assert!(queue.job(0).is_some());
    assert_eq!(queue.job(0), queue.job(1));
    assert!(queue.give_up(job.task, 1, now).is_empty());
    assert!(queue.job(1).is_some());
}

#[test]
fn clear_ends_everything() {
    let (mut queue, now) = (queue(Order::Arrival, 10), Instant::now());
    for root in 0..5 {
        queue.submit(ask(root, 9, u32::from(root)), now).unwrap();
    }
    let version = queue.version();
    assert_eq!(queue.clear(Outcome::Stopping).len(), 5);
    assert_ne!(queue.version(), version);
    assert_eq!(
        (queue.queued(), queue.waiters(), queue.is_searching()),
        (0, 0, false)
    );
}

#[test]
fn those_who_leave_leave_nothing_behind() {
    for order in [Order::Arrival, Order::Random] {
        let (mut queue, now) = (queue(order, usize::MAX), Instant::now());
        queue.submit(ask(0, 9, 0), now).unwrap();
        for round in 0..100_000u32 {
            let mut ask = ask(1, 9, round);
            ask.root[..4].copy_from_slice(&round.to_le_bytes());
            let ticket = queue.submit(ask, now).unwrap();
            assert_eq!(queue.leave(ticket, now), Some(round));
        }
        assert_eq!((queue.queued(), queue.waiters()), (0, 1));
        assert!(queue.requests.numbers.len() <= 2 * Lane::SLACK);
        assert!(queue.requests.numbers.capacity() < 1000);
    }
}

#[test]
fn times_are_those_of_the_waiter() {
    let (mut queue, start) = (queue(Order::Arrival, 10), Instant::now());
    let at = |seconds| start + Duration::from_secs(seconds);
    queue.submit(ask(1, 9, 1), at(0)).unwrap();
    queue.submit(ask(2, 9, 2), at(1)).unwrap();
    assert_eq!(queue.cancel(&[1; 32], None, at(3)).len(), 1);
    queue.submit(ask(2, 9, 3), at(4)).unwrap();
    let job = queue.job(0).unwrap();
    let times: Vec<_> = queue
        .found(job.task, 0, 9, at(10))
        .into_iter()
        .map(|settled| match settled.outcome {
            Outcome::Found { waited, solved, .. } => (waited.as_secs(), solved.as_secs()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(times, [(2, 7), (0, 6)]);
}

#[derive(Clone, Debug)]
enum Step {
    Submit {
        root: u8,
        threshold: u64,
        is_benchmark: bool,
    },
    Leave {
        index: usize,
    },
    Cancel {
        root: u8,
    },
    Found {
        value: u64,
    },
    GiveUp {
        worker: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u8..6, 0u64..8, any::<bool>())
            .prop_map(|(root, threshold, is_benchmark)| Step::Submit { root, threshold, is_benchmark }),
        2 => any::<usize>().prop_map(|index| Step::Leave { index }),
        1 => (0u8..6).prop_map(|root| Step::Cancel { root }),
        3 => (0u64..9).prop_map(|value| Step::Found { value }),
        1 => (0usize..2).prop_map(|worker| Step::GiveUp { worker }),
    ]
}

proptest! {
    /// Nobody is lost, nobody is answered twice, and work is always good enough.
    #[test]
    fn every_request_ends_once(steps in prop::collection::vec(step(), 0..200), is_random in any::<bool>()) {
        let order = if is_random { Order::Random } else { Order::Arrival };
        let (mut queue, now) = (queue(order, 3), Instant::now());
        let mut open: HashMap<u32, (Ticket, u64)> = HashMap::new();
        for (reply, step) in (0u32..).zip(steps) {
            let settled = match step {
                Step::Submit { root, threshold, is_benchmark } => {
                    let urgency = if is_benchmark { Urgency::Benchmark } else { Urgency::Request };
                    if let Ok(ticket) = queue.submit(Ask { urgency, ..ask(root, threshold, reply) }, now) {
                        open.insert(reply, (ticket, threshold));
                    }
                    Vec::new()
                }
                Step::Leave { index } => {
                    let mut replies: Vec<_> = open.keys().copied().collect();
                    replies.sort_unstable();
                    if !replies.is_empty() {
                        let reply = replies[index % replies.len()];
                        let (ticket, _) = open.remove(&reply).unwrap();
                        prop_assert_eq!(queue.leave(ticket, now), Some(reply));
                    }
                    Vec::new()
                }
                Step::Cancel { root } => queue.cancel(&[root; 32], None, now),
                Step::Found { value } => match queue.job(0).or(queue.job(1)) {
                    Some(job) => queue.found(job.task, 0, value, now),
                    None => Vec::new(),
                },
                Step::GiveUp { worker } => match queue.job(worker) {
                    Some(job) => queue.give_up(job.task, worker, now),
                    None => Vec::new(),
                },
            };
            for Settled { reply, outcome } in settled {
                let (_, threshold) = open.remove(&reply).expect("open");
                if let Outcome::Found { value, .. } = outcome {
                    prop_assert!(value >= threshold);
                }
            }
            prop_assert_eq!(queue.waiters(), open.len());
            prop_assert_eq!(queue.is_searching(), !open.is_empty());
            let roots: HashSet<_> = queue.tasks.values().map(|task| task.root).collect();
            prop_assert_eq!(roots.len(), queue.tasks.len());
            prop_assert_eq!(queue.by_root.len(), queue.tasks.len());
            prop_assert_eq!(queue.queued() + usize::from(queue.is_searching()), queue.tasks.len());
        }
    }
}
