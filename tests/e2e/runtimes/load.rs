// SPDX-License-Identifier: MIT
// Computes and waits in functions whose names stacks must have.
use std::sync::mpsc::{channel, Receiver};
use std::{hint, thread, time};

#[inline(never)]
fn load_spin(n: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..n {
        sum = hint::black_box(sum.wrapping_add(i * i));
    }
    sum
}

#[inline(never)]
fn load_wait(receiver: &Receiver<u64>) -> u64 {
    let sum = receiver.recv().unwrap_or(0);
    hint::black_box(sum)
}

#[inline(never)]
fn load_outer() -> u64 {
    let sum = load_spin(4_000_000);
    thread::sleep(time::Duration::from_millis(4));
    hint::black_box(sum)
}

fn main() {
    let (sender, receiver) = channel();
    let waiter = thread::spawn(move || {
        for _ in 0..40 {
            load_wait(&receiver);
        }
    });
    for _ in 0..40 {
        let _ = sender.send(load_outer());
    }
    let _ = waiter.join();
}
