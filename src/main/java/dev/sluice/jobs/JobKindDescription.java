package dev.sluice.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the rest of the operator has to know of a kind of job: webhooks, MultiKueue, roles and what
 * is watched. The defaults are those of an ordinary kind, whose fields {@code spec.suspend} and
 * {@code spec.managedBy} suspend a job and name the controller that runs the job.
 */
public interface JobKindDescription {

  /** The kind. */
  JobKind kind();

  /** Path of the field that suspends a job; empty for kinds without such a field. */
  default List<String> suspendField() {
    return List.of("spec", "suspend");
  }

  /** Path of the field that names the controller that runs a job; empty for kinds without one. */
  default List<String> managedByField() {
    return List.of("spec", "managedBy");
  }

  /** What the webhooks do with objects of the kind. */
  default WebhookRules webhooks() {
    return WebhookRules.suspendField(suspendField(), managedByField(), "");
  }

  /** Whether jobs of the kind may change their size while they run. */
  default boolean canBeElastic() {
    return false;
  }

  /**
   * Whether a job may be managed; a field of the kind can keep it from that, whatever queue it
   * names. Webhooks and the job framework leave such an object alone.
   */
  default boolean isManageable(JsonNode object) {
    return true;
  }

  /** What breaks the kind's own rules in a job that is in a queue. */
  default List<InvalidField> validate(JsonNode object) {
    return List.of();
  }

  /** The pod sets whose templates can ask for a topology. */
  default List<ReviewedPodSet> reviewedPodSets(JsonNode object) {
    return List.of();
  }

  /**
   * Whether an update is validated only if the job is in a queue, or was before (gate
   * ValidateRayAndSparkJobUpdates).
   */
  default boolean validatesQueuedUpdatesOnly() {
    return false;
  }

  /**
   * Fields that a managed job gets when it is created, besides its queue, its suspension and the
   * controller that runs it.
   */
  default List<FieldDefault> defaults(JsonNode object) {
    return List.of();
  }

  /**
   * How a job of the kind is mirrored in a worker cluster; empty if jobs of the kind can't be sent
   * to one. By default jobs of a kind with a managed-by field can.
   */
  default Optional<MultiKueueRules> multiKueue() {
    return managedByField().isEmpty()
        ? Optional.empty()
        : Optional.of(MultiKueueRules.byStatus(managedByField(), suspendField()));
  }

  /**
   * Other kinds of jobs whose objects are watched, and reviewed by webhooks, wherever this kind is
   * turned on.
   */
  default Set<JobKind> watches() {
    return Set.of();
  }

  /** The access to the API that the operator needs for objects of the kind. */
  default List<RbacRule> roles() {
    return RbacRule.ofController(kind(), "delete");
  }
}
