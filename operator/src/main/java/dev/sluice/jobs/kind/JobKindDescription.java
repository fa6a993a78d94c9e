package dev.sluice.jobs.kind;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import dev.sluice.api.config.FeatureGate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

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

  /**
   * The value that {@link #suspendField} has in a job that is suspended, or is not; null where the
   * field is absent then.
   */
  default JsonNode suspension(boolean suspended) {
    return BooleanNode.valueOf(suspended);
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

  /** The templates of the pods that a gate holds back if a job is elastic. */
  default List<JsonPointer> elasticTemplates(JsonNode object) {
    return List.of();
  }

  /**
   * What breaks the kind's own rules in a job that is in a queue.
   *
   * @param elastic whether the job may change its size while it runs
   */
  default List<InvalidField> validate(JsonNode object, boolean elastic) {
    return List.of();
  }

  /**
   * What breaks the rules of the kind that depend on feature gates, in a job that is in a queue.
   *
   * @param elastic whether the job may change its size while it runs
   * @param isOn whether a gate is on
   */
  default List<InvalidField> validateByGate(
      JsonNode object, boolean elastic, Predicate<FeatureGate> isOn) {
    return List.of();
  }

  /** Annotations of this job that nobody but the operator may change: quota is held by them. */
  default Set<String> operatorAnnotations(JsonNode object) {
    return Set.of();
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

  /**
   * Whether the kind's own controller creates objects of another kind. An object that names a job
   * as its controller is not taken for a part of the job if that can't have created it.
   *
   * @param kind the kind of the object
   */
  default boolean creates(String kind) {
    return true;
  }

  /**
   * Whether programs that run in a job of the kind create objects of another kind in its name. They
   * are taken for parts of the job only where the pods of both are counted together.
   *
   * @param kind the kind of the object
   */
  default boolean orchestrates(String kind) {
    return false;
  }

  /**
   * Whether kinds of the same API group that have no description create and adopt what this one
   * does.
   */
  default boolean speaksForGroup() {
    return false;
  }

  /**
   * Whether a pod that names a job of this kind as its controller, and that no controller of the
   * cluster created, is a pod of the job all the same. A controller ignores pods that it didn't
   * create and that its selector doesn't match, so such a pod would run without its job's quota.
   *
   * @param labels labels of the pod
   * @param uid the UID of the job
   */
  default boolean adopts(Map<String, String> labels, String uid) {
    return true;
  }

  /**
   * The name of the job of this kind behind an object whose controller is a part of that job and
   * not a job itself; empty if the object belongs to no job of this kind.
   *
   * @param owner the kind of the object's controller
   * @param kind the kind of the object
   * @param labels labels of the object
   */
  default Optional<String> jobBehind(String owner, String kind, Map<String, String> labels) {
    return Optional.empty();
  }

  /**
   * Whether objects of the kind own their Workload beside other objects, and none of them as its
   * controller.
   */
  default boolean sharesWorkload() {
    return false;
  }

  /** Whether a job may name a Workload that was made for it. */
  default boolean acceptsPrebuiltWorkload() {
    return true;
  }

  /** The access to the API that the operator needs for objects of the kind. */
  default List<RbacRule> roles() {
    return RbacRule.ofController(kind(), "delete");
  }

  /**
   * A field that a managed job of a kind gets when it is created.
   *
   * @param path the names of the fields that lead to it
   * @param value its value, which takes the place of any other
   */
  record FieldDefault(List<String> path, JsonNode value) {

    /** Copies the path. */
    public FieldDefault {
      path = List.copyOf(path);
    }
  }
}
