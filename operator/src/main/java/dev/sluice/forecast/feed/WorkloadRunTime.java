package dev.sluice.forecast.feed;

import dev.sluice.forecast.runtimes.RunTimeEstimate;
import java.time.Duration;
import java.util.Optional;

/**
 * How long a Workload is expected to run, as it is shown to people.
 *
 * @param estimate of the whole run
 * @param queueWithDefault the queue whose default run time the estimate is, such as {@code
 *     LocalQueue team/gpu}; empty if it isn't such a default
 * @param age how long the Workload has run; empty if it doesn't run
 */
public record WorkloadRunTime(
    RunTimeEstimate estimate, Optional<String> queueWithDefault, Optional<Duration> age) {}
