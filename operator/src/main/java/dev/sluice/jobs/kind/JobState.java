package dev.sluice.jobs.kind;

import dev.sluice.core.model.MapCopies;
import java.util.Map;
import java.util.Optional;

/**
 * How a job stands, in words that all kinds share.
 *
 * @param suspended whether it is told not to run
 * @param settled whether it is suspended and either never began or its kind's own controller has
 *     taken note of the stop; until then the API server may refuse changes of its templates
 * @param stopUnfinished whether stopping it was begun and is not complete
 * @param active whether pods of it run
 * @param end how it ended, if it has
 * @param podsReady whether all its pods are ready or done
 * @param reclaimable pods that need no quota any more, by pod set; only amounts above zero
 * @param handling what its fields say of how it is to be handled
 */
public record JobState(
    boolean suspended,
    boolean settled,
    boolean stopUnfinished,
    boolean active,
    Optional<End> end,
    boolean podsReady,
    Map<String, Integer> reclaimable,
    Handling handling) {

  public JobState {
    reclaimable = MapCopies.of(reclaimable);
  }

  /** The state of a job that is handled as any other. */
  public JobState(
      boolean suspended,
      boolean settled,
      boolean stopUnfinished,
      boolean active,
      Optional<End> end,
      boolean podsReady,
      Map<String, Integer> reclaimable) {
    this(
        suspended, settled, stopUnfinished, active, end, podsReady, reclaimable, Handling.ORDINARY);
  }

  /**
   * The state of an elastic job as its slice has it.
   *
   * @param sameSize whether the job has the size of its slice: while it is about to get another
   *     one, what it doesn't need any more is not told, because it refers to the new size
   */
  public JobState ofSlice(boolean ready, boolean sameSize) {
    return new JobState(
        suspended,
        settled,
        stopUnfinished,
        active,
        end,
        ready,
        sameSize ? reclaimable : Map.of(),
        handling);
  }

  /** The state of a job whose pods run, whatever its status says. */
  public JobState running() {
    return active
        ? this
        : new JobState(
            suspended, settled, stopUnfinished, true, end, podsReady, reclaimable, handling);
  }

  /**
   * What the fields of a job say of how it is to be handled.
   *
   * @param manageable whether it may be managed at all
   * @param hold why it must not have quota for now; empty if it may
   * @param cleansUp whether it is being deleted and still needs its quota, because its kind's own
   *     controller cleans up
   * @param held whether an annotation, and not the field that suspends jobs of its kind, keeps it
   *     from running
   */
  public record Handling(
      boolean manageable, Optional<String> hold, boolean cleansUp, boolean held) {

    /** As any other job. */
    public static final Handling ORDINARY = new Handling(true, Optional.empty(), false, false);
  }

  /** The end of a job, in the words of its own condition. */
  public record End(boolean succeeded, String message) {}
}
