package dev.sluice.jobs.kinds.ray;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.TemplatedJob;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** What the kinds of Ray have in common: each holds the spec of a cluster. */
abstract class RayKind extends TemplatedJob {

  private final JobKind kind;
  private final RayPods pods;

  /**
   * A kind of Ray.
   *
   * @param pods where its objects hold the spec of a cluster
   */
  RayKind(JobKind kind, RayPods pods) {
    this.kind = kind;
    this.pods = pods;
  }

  final RayPods pods() {
    return pods;
  }

  @Override
  public final JobKind kind() {
    return kind;
  }

  @Override
  public final WebhookRules webhooks() {
    return WebhookRules.suspendField(suspendField(), managedByField(), "ray.io/kuberay-operator");
  }

  @Override
  public final boolean canBeElastic() {
    return true;
  }

  @Override
  public final boolean validatesQueuedUpdatesOnly() {
    return true;
  }

  @Override
  public List<InvalidField> validate(JsonNode object, boolean elastic) {
    return pods.validate(object, 0, elastic);
  }

  /** The names of the RayClusters whose pods are those of a job. */
  protected abstract List<String> clusters(JsonNode object);

  @Override
  public final Optional<String> podSelector(JsonNode object) {
    List<String> clusters = clusters(object).stream().filter(name -> !name.isEmpty()).toList();
    return clusters.isEmpty()
        ? Optional.empty()
        : Optional.of("ray.io/cluster in (" + String.join(",", clusters) + ")");
  }

  /** A cluster that scales itself in a worker needs a gate: its size is followed from there. */
  @Override
  public List<InvalidField> validateByGate(
      JsonNode object, boolean elastic, Predicate<FeatureGate> isOn) {
    return elastic
            && isManageable(object)
            && !isOn.test(FeatureGate.MULTI_KUEUE_RAY_IN_TREE_AUTOSCALING)
        ? pods.validateScaling(object)
        : List.of();
  }

  /** While the annotation is there, it is the size of a cluster that a worker scales. */
  @Override
  public Set<String> operatorAnnotations(JsonNode object) {
    return pods.scalesRemotely(object)
            && JsonFields.annotations(object)
                .containsKey(KueueConstants.RAYCLUSTER_PODSET_REPLICA_SIZES)
        ? Set.of(KueueConstants.RAYCLUSTER_PODSET_REPLICA_SIZES)
        : Set.of();
  }

  /** From its start on a cluster that a worker scales has the size that the annotation says. */
  @Override
  protected void writeTemplates(ObjectNode job) {
    if (pods.scalesRemotely(job) && operatorAnnotations(job).isEmpty()) {
      ObjectNode annotations = JsonFields.child(JsonFields.child(job, "metadata"), "annotations");
      pods.sizeAnnotations(pods.remoteCounts(job, job)).forEach(annotations::put);
    }
  }

  @Override
  protected void removeTemplates(ObjectNode job) {
    if (JsonFields.at(job, "metadata", "annotations") instanceof ObjectNode annotations) {
      annotations.remove(operatorAnnotations(job));
    }
  }

  @Override
  protected List<PodSetSlot> slots(JsonNode object) {
    return pods.slots(object);
  }

  @Override
  protected JsonNode accounted(JsonNode object, PodSetSlot slot) {
    JsonNode template = super.accounted(object, slot);
    return slot.name().equals(RayPods.HEAD) ? pods.accountedHead(object, template) : template;
  }
}
