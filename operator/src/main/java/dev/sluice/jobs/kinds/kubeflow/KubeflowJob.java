package dev.sluice.jobs.kinds.kubeflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.TemplatedJob;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Jobs of Kubeflow whose spec holds replicas by type, each with a pod template: a pod set per type
 * that the job has, with its name in lower case.
 */
public abstract class KubeflowJob extends TemplatedJob {

  private static final String GROUP = "kubeflow.org";
  private static final Index INDEX = Index.of("training.kubeflow.org/replica-index");

  private final JobKind kind;
  private final String controller;
  private final String replicas;
  private final List<String> types;

  /**
   * A kind.
   *
   * @param controller what the managed-by field says by default
   * @param replicas the field of the spec that holds the replicas by type
   * @param types the types of replicas in the order of the pod sets
   */
  KubeflowJob(String version, String kind, String controller, String replicas, List<String> types) {
    this.kind = JobKind.of(GROUP, version, kind);
    this.controller = controller;
    this.replicas = replicas;
    this.types = List.copyOf(types);
  }

  @Override
  public final JobKind kind() {
    return kind;
  }

  /** The field of the spec that holds the replicas by type. */
  public final String replicasField() {
    return replicas;
  }

  @Override
  public final List<String> suspendField() {
    return List.of("spec", "runPolicy", "suspend");
  }

  @Override
  public final List<String> managedByField() {
    return List.of("spec", "runPolicy", "managedBy");
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.suspendField(suspendField(), managedByField(), controller);
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byStatus(managedByField(), suspendField())
            .keptAfterItsEnd(List.of("spec", "runPolicy", "ttlSecondsAfterFinished"))
            .withPodFields("replicaStatuses"));
  }

  @Override
  public String priorityClass(JsonNode object) {
    return JsonFields.text(object, "spec", "runPolicy", "schedulingPolicy", "priorityClass");
  }

  /** What the job says of a type of replica; a missing node if it has none. */
  final JsonNode replica(JsonNode object, String type) {
    return JsonFields.at(object, "spec", replicas, field(object, type));
  }

  /** The field of a type of replica in a job. */
  final String field(JsonNode object, String type) {
    return key(JsonFields.at(object, "spec", replicas), type);
  }

  /**
   * The field of a type of replica. The training operator takes types in any case.
   *
   * @param specs the replicas by type
   */
  public static String key(JsonNode specs, String type) {
    return keys(specs, type).findFirst().orElse(type);
  }

  private static Stream<String> keys(JsonNode specs, String type) {
    return specs.properties().stream()
        .filter(it -> it.getValue().isObject() && it.getKey().equalsIgnoreCase(type))
        .map(Map.Entry::getKey);
  }

  @Override
  public List<InvalidField> validate(JsonNode object, boolean elastic) {
    return uncounted(object);
  }

  /** Types that the kind doesn't have, and types that are given twice in different cases. */
  @Override
  protected final List<InvalidField> uncounted(JsonNode object) {
    JsonNode specs = JsonFields.at(object, "spec", replicas);
    List<InvalidField> uncounted = new ArrayList<>();
    Set<String> counted =
        types.stream().map(type -> key(specs, type)).collect(Collectors.toUnmodifiableSet());
    for (Map.Entry<String, JsonNode> each : specs.properties()) {
      if (each.getValue().isObject() && !counted.contains(each.getKey())) {
        uncounted.add(
            new InvalidField(
                "spec." + replicas + "[" + each.getKey() + "]",
                TextNode.valueOf(each.getKey()),
                "must be one of the types " + String.join(", ", types) + ", each given once"));
      }
    }
    return uncounted;
  }

  /** How many pods a type of replica has. */
  int count(String type, JsonNode replica) {
    return replica.path("replicas").asInt(1);
  }

  @Override
  protected final List<PodSetSlot> slots(JsonNode object) {
    List<PodSetSlot> slots = new ArrayList<>();
    for (String type : types) {
      JsonNode replica = replica(object, type);
      if (replica.isObject()) {
        slots.add(
            PodSetSlot.of(
                object,
                type.toLowerCase(Locale.ROOT),
                count(type, replica),
                "/spec/" + replicas + "/" + field(object, type) + "/template",
                INDEX));
      }
    }
    return slots;
  }

  @Override
  protected boolean active(JsonNode object) {
    return JsonFields.at(object, "status", "replicaStatuses")
        .valueStream()
        .anyMatch(replica -> replica.path("active").asInt() > 0);
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    return JobConditions.isTrue(object, "Running");
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    return JobConditions.end(object, "Succeeded", "Failed");
  }
}
