// SPDX-License-Identifier: MIT
// Computes and waits in methods whose names stacks must have.
public class Load {
	static double loadSpin(int n) {
		double sum = 0;
		for (int i = 0; i < n; i++)
			sum += Math.sqrt(i);
		return sum;
	}

	static double loadOuter() {
		return loadSpin(20000000);
	}

	public static void main(String[] args) throws InterruptedException {
		double sum = 0;
		for (int i = 0; i < 30; i++) {
			sum += loadOuter();
			Thread.sleep(4);
		}
		System.out.println(sum);
	}
}
