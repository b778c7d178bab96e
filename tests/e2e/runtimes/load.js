// SPDX-License-Identifier: MIT
// Computes and waits in functions whose names stacks must have.
function loadSpin(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) sum += Math.sqrt(i);
	return sum;
}
function loadWait() {
	const cell = new Int32Array(new SharedArrayBuffer(4));
	return Atomics.wait(cell, 0, 0, 4);
}
function loadOuter() {
	return loadSpin(3e6) + loadWait().length;
}
for (let i = 0; i < 40; i++) loadOuter();
