package dev.sluice.jobs.kinds.ray;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.TemplatedJob;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Optional;

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
