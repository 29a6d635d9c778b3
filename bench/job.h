// The framework of a benchmark program: named jobs, and a loop that runs jobs on request. compare.py runs our jobs and
// those of the peer alternately, so that both are measured under the same conditions.
#pragma once
#include <functional>
#include <string>

namespace attend::bench {

/// The function to be timed. The setup of a job creates its data and returns this function.
using Run = std::function<void()>;

/// Registers a job. `bar` is the minimum ratio to the peer; 0 if the ratio is only reported.
void job(std::string name, double bar, std::function<Run()> setup);
/// Registers a measurement without a peer, for example the peak memory, with its unit. A positive bar is the maximum
/// value; the absolute value of a negative bar is the minimum; 0 means that it is only reported.
void figure(std::string name, std::string unit, double bar, std::function<double()> measure);
/// The resident memory of this process.
double resident_bytes();
/// The peak resident memory of this process while `run` runs.
double peak_bytes(const Run& run);

/// The time of the fastest of several runs in seconds. Runs once to warm up, and then for about `budget` seconds.
double best_seconds(const Run& run, double budget = 0.5);

/// The main function. --list prints lines "name<TAB>unit<TAB>bar". With names of jobs as arguments ("all" for every
/// job), it runs them and prints a table. Without arguments, it reads one name from each line of standard input, and
/// prints the best time in seconds, or the value of a figure.
int serve(int argc, char** argv);

}  // namespace attend::bench
