// SPDX-License-Identifier: MIT

// Computes and waits in functions whose names stacks must have.
package main

import "syscall"

var sum int

//go:noinline
func loadSpin(n int) {
	for i := 0; i < n; i++ {
		sum += i * i
	}
}

// A raw call: the thread itself waits, not the goroutine.
//
//go:noinline
func loadWait() {
	nap := syscall.Timespec{Nsec: 4000000}
	syscall.Nanosleep(&nap, nil)
	sum++
}

//go:noinline
func loadOuter() {
	loadSpin(8000000)
	loadWait()
	sum++
}

func main() {
	for i := 0; i < 40; i++ {
		loadOuter()
	}
}
