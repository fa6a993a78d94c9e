package dev.sluice.api.queueing;

import java.time.Duration;

/**
 * A run time that a queue says, as default or as limit (docs/run-times.md#queues).
 *
 * @param queue kind and name for people, such as {@code LocalQueue team/gpu}
 */
public record QueueRunTime(Duration runTime, String queue) {}
