// SPDX-License-Identifier: MIT
// Blocks below libstdc++ and in a handler of an exception, for unwind_live.sh.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;
static volatile int turns;

[[gnu::noinline]] static void nap()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(1));
	turns = turns + 1;
}

[[gnu::noinline]] static void cxx_throw()
{
	nap();
	throw std::runtime_error("on purpose");
}

[[gnu::noinline]] static void cxx_catch()
{
	try {
		cxx_throw();
	} catch (const std::exception &) {
		nap();
	}
	turns = turns + 1;
}

[[gnu::noinline]] static void cxx_wait()
{
	std::unique_lock<std::mutex> lock(mutex);

	condition.wait(lock);
	turns = turns + 1;
}

int main()
{
	bool done = false;
	std::thread waiter([&] {
		while (!done)
			cxx_wait();
	});

	for (int i = 0; i < 40; i++) {
		cxx_catch();
		condition.notify_one();
	}
	for (int i = 0; i < 40; i++) {
		done = true;
		nap();
		condition.notify_one();
	}
	waiter.join();
}
