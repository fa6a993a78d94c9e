package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.MultiKueue;
import dev.sluice.forecast.feed.WorkloadSimulator;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.jobs.kind.JobKind;
import java.util.List;
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
     * @param workers the worker clusters that would be asked to run it
     */
    record Simulated(SimulationResult result, String note, Workers workers) implements Answer {}

    /** It would not be queued, or what is queued can't be known; {@code why} is for people. */
    record NotQueued(String why) implements Answer {}

    /** Too many ask, or there was no answer in time. */
    record Busy() implements Answer {}
  }

  /**
   * The worker clusters of a ClusterQueue whose admission checks send jobs elsewhere
   * (docs/multikueue.md#dispatchers).
   *
   * @param isAsked whether there is such a check
   * @param names the workers that are active, in the order in which they are asked
   * @param text which of them would run a job, for people
   */
  record Workers(boolean isAsked, List<String> names, String text) {

    /** Jobs run here. */
    public static final Workers NONE = new Workers(false, List.of(), "");

    public Workers {
      names = List.copyOf(names);
    }

    /**
     * The workers that a job would be offered to.
     *
     * @param dispatcher the name of the dispatcher
     * @param configOrder whether the incremental one asks in the order of the MultiKueueConfig
     * @param active the active workers, in the order of the MultiKueueConfig
     */
    public static Workers of(String dispatcher, boolean configOrder, List<String> active) {
      if (active.isEmpty()) {
        return new Workers(
            true, List.of(), "no worker cluster of its queue is active: it would wait");
      }
      boolean inOrder =
          switch (dispatcher) {
            case MultiKueue.ALL_AT_ONCE -> false;
            case MultiKueue.INCREMENTAL -> configOrder;
            default -> true;
          };
      List<String> names = inOrder ? active : active.stream().sorted().toList();
      String all = String.join(", ", names);
      return new Workers(
          true,
          names,
          switch (dispatcher) {
            case MultiKueue.ALL_AT_ONCE ->
                "it would be offered to the worker clusters "
                    + all
                    + ", to all at once: the first that admits it runs it";
            case MultiKueue.INCREMENTAL ->
                "it would be offered to the worker clusters "
                    + all
                    + ", in this order, a few at a time: the first that admits it runs it";
            case MultiKueue.BEST_FIT ->
                "it would run in the first of the worker clusters "
                    + all
                    + " that has room for it, or else in the first that admits it";
            default ->
                "of the worker clusters "
                    + all
                    + " the dispatcher "
                    + dispatcher
                    + " decides which are asked";
          });
    }
  }

  /** The kind of an object, if jobs of that kind are queued. */
  Optional<JobKind> kind(String apiVersion, String kind);

  /**
   * Prepares the answer to what would become of a job that is created now. Making its Workload
   * takes processor time by its size, and is done here; the supplier only waits until the engine's
   * copy has decided.
   *
   * @param job the object, with the defaults of its webhook; it is changed
   * @param asker gives the name and the patience of whoever asks; called by the supplier if the job
   *     would be queued, and not for other jobs. May throw.
   */
  Supplier<Answer> prepared(ObjectNode job, Supplier<WorkloadSimulator.Asker> asker);

  /** The answer of {@link #prepared}. */
  default Answer of(ObjectNode job, Supplier<WorkloadSimulator.Asker> asker) {
    return prepared(job, asker).get();
  }
}
