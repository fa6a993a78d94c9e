package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * A kind whose jobs are held back by the gates of their pods: no field of the object suspends it or
 * names the controller that runs it.
 */
public interface GatedKind extends JobKindDescription {

  /**
   * What an object of the kind makes.
   *
   * @param job a job of a kind with an integration
   * @param times how many jobs like it are made, at least 0
   * @param note what an answer about all of them together leaves out, for people; may be empty
   */
  record Made(ObjectNode job, int times, String note) {

    /**
     * So many jobs as an object says in {@code spec.replicas}, each of which starts by itself.
     *
     * @param object whose replicas are made
     * @param what a replica is, in the plural
     */
    public static Made replicas(ObjectNode object, ObjectNode job, String what) {
      int replicas = Math.max(0, object.path("spec").path("replicas").asInt(1));
      return new Made(
          job,
          replicas,
          replicas > 1
              ? "the answer is for all %d %s together; each starts by itself"
                  .formatted(replicas, what)
              : "");
    }

    /** An object that is one job. */
    public static Made one(ObjectNode job) {
      return new Made(job, 1, "");
    }
  }

  /** What is queued for an object: the object itself, or pods like one that it describes. */
  Made made(ObjectNode object);

  @Override
  default List<String> suspendField() {
    return List.of();
  }

  @Override
  default List<String> managedByField() {
    return List.of();
  }
}
