package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.forecast.feed.WorkloadSimulator;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.jobs.kind.JobKind;
import java.util.Optional;
import java.util.function.Supplier;

/** Says what would become of a job that doesn't exist (docs/simulate.md). Thread-safe. */
public interface JobSimulator {

  /** What is answered. */
  sealed interface Answer {

    /**
     * This would become of it.
     *
     * @param note what the answer leaves out, for people; may be empty
     */
    record Simulated(SimulationResult result, String note) implements Answer {}

    /** It would not be queued, or what is queued can't be known; {@code why} is for people. */
    record NotQueued(String why) implements Answer {}

    /** Too many ask, or there was no answer in time. */
    record Busy() implements Answer {}
  }

  /** The kind of an object, if jobs of that kind are queued. */
  Optional<JobKind> kind(String apiVersion, String kind);

  /**
   * What would become of a job that is created now.
   *
   * @param job the object, with the defaults of its webhook; it is changed
   * @param asker gives the name and the patience of whoever asks; called once it is known that the
   *     job would be queued, and not for other jobs. May throw.
   */
  Answer of(ObjectNode job, Supplier<WorkloadSimulator.Asker> asker);
}
