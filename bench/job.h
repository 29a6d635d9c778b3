// What a benchmark program is made of: named jobs, and a loop that runs the one it is asked for. compare.py asks ours
// and the peer's in turn, so that both meet the same machine at the same time.
#pragma once
#include <functional>
#include <string>

namespace attend::bench {

/// A job's setup makes its data and returns what is to be timed.
using Run = std::function<void()>;

/// Registers a job. `bar` is the ratio to the peer that it must reach; 0 when it is only reported.
void job(std::string name, double bar, std::function<Run()> setup);
/// Registers a number that has no peer (a peak of memory, a share of the matmul's rate), with its unit. A positive bar
/// is the most it may be, a negative one the least.
void figure(std::string name, std::string unit, double bar, std::function<double()> measure);
/// Of this process, in memory now.
double resident_bytes();
/// The most that were in memory while this ran.
double peak_bytes(const Run& run);

/// Seconds of the fastest of several runs, after one to warm up, for about `budget` seconds.
double best_seconds(const Run& run, double budget = 0.5);

/// --list prints "name<TAB>kind<TAB>bar" lines; names as arguments run these and print a table ("all" for every one);
/// otherwise reads a name a line from standard input and answers with its best seconds, or its figure.
int serve(int argc, char** argv);

}  // namespace attend::bench
