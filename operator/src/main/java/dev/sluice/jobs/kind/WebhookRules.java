package dev.sluice.jobs.kind;

import java.util.List;

/**
 * What the webhooks do with the objects of a kind. Every kind is validated when it is created and
 * updated.
 *
 * @param mutating the operations, as the API server names them, at which defaults are set
 * @param review what is set, and what is validated
 */
public record WebhookRules(List<String> mutating, Review review) {

  private static final List<String> CREATE = List.of("CREATE");
  private static final List<String> CREATE_AND_UPDATE = List.of("CREATE", "UPDATE");

  /** Copies the list. */
  public WebhookRules {
    mutating = List.copyOf(mutating);
  }

  /** What is set and validated. A path is the list of field names that leads to a field. */
  public sealed interface Review {

    /**
     * A job that a field suspends. A managed job is created suspended; the labels and annotations
     * that address its queue are validated, and change only while the job is suspended.
     *
     * @param suspend path of the field that suspends the job
     * @param managedBy path of the field that names the controller that runs the job; empty if the
     *     kind has none
     * @param controller what that field says by default; empty if nothing
     */
    record SuspendField(List<String> suspend, List<String> managedBy, String controller)
        implements Review {}

    /**
     * A job with the fields of Jobs of batch/v1: {@code spec.suspend} suspends it, {@code
     * spec.managedBy} names the controller, and {@code spec.parallelism} and {@code
     * spec.completions} count the pods of {@code spec.template}.
     */
    record Parallelism() implements Review {}

    /** A pod: a scheduling gate holds a managed pod back. */
    record GatedPod() implements Review {}

    /**
     * An object whose pods, made from {@code spec.template}, a scheduling gate holds back.
     *
     * @param together whether all pods are one job; otherwise each pod is a job of its own
     */
    record GatedTemplate(boolean together) implements Review {}

    /**
     * A LeaderWorkerSet: a scheduling gate holds back the pods that are made from its templates,
     * and each group of pods is one job.
     */
    record GatedGroups() implements Review {}

    /** Every request is allowed unchanged. */
    record Unreviewed() implements Review {}
  }

  /** The rules of a job that a field suspends. */
  public static WebhookRules suspendField(
      List<String> suspend, List<String> managedBy, String controller) {
    return new WebhookRules(CREATE, new Review.SuspendField(suspend, managedBy, controller));
  }

  /** The rules of a kind whose objects get defaults at creation only. */
  public static WebhookRules atCreation(Review review) {
    return new WebhookRules(CREATE, review);
  }

  /** The rules of a kind whose objects get defaults at updates, too. */
  public static WebhookRules atUpdatesToo(Review review) {
    return new WebhookRules(CREATE_AND_UPDATE, review);
  }
}
