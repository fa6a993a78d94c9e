package dev.sluice.jobs.kubeflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.JobConditions;
import dev.sluice.jobs.JobKind;
import dev.sluice.jobs.JobState;
import dev.sluice.jobs.MultiKueueRules;
import dev.sluice.jobs.TemplatedJob;
import dev.sluice.jobs.WebhookRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Jobs of the training operator, which differ by two names only: the field that holds the replicas,
 * and the types of replicas. A pod set per type that the job has.
 */
public final class TrainingJob extends TemplatedJob {

  private static final String GROUP = "kubeflow.org";
  private static final String CONTROLLER = "kubeflow.org/training-operator";
  private static final Index INDEX = Index.of("training.kubeflow.org/replica-index");

  private final JobKind kind;
  private final String replicas;
  private final List<String> types;

  /**
   * A kind.
   *
   * @param replicas the field of the spec that holds the replicas by type
   * @param types the types of replicas in the order of the pod sets
   */
  private TrainingJob(String kind, String replicas, String... types) {
    this.kind = JobKind.of(GROUP, "v1", kind);
    this.replicas = replicas;
    this.types = List.of(types);
  }

  /** PyTorchJobs. */
  public static TrainingJob pyTorch() {
    return new TrainingJob("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker");
  }

  /** TFJobs. */
  public static TrainingJob tensorFlow() {
    return new TrainingJob(
        "TFJob", "tfReplicaSpecs", "Chief", "Master", "PS", "Worker", "Evaluator");
  }

  /** XGBoostJobs. */
  public static TrainingJob xgBoost() {
    return new TrainingJob("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker");
  }

  /** PaddleJobs. */
  public static TrainingJob paddle() {
    return new TrainingJob("PaddleJob", "paddleReplicaSpecs", "Master", "Worker");
  }

  /** JAXJobs. */
  public static TrainingJob jax() {
    return new TrainingJob("JAXJob", "jaxReplicaSpecs", "Worker");
  }

  @Override
  public JobKind kind() {
    return kind;
  }

  /** The field of the spec that holds the replicas by type. */
  public String replicasField() {
    return replicas;
  }

  @Override
  public List<String> suspendField() {
    return List.of("spec", "runPolicy", "suspend");
  }

  @Override
  public List<String> managedByField() {
    return List.of("spec", "runPolicy", "managedBy");
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.suspendField(suspendField(), managedByField(), CONTROLLER);
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byStatus(managedByField(), suspendField())
            .withPodFields("replicaStatuses"));
  }

  @Override
  public String priorityClass(JsonNode object) {
    return JsonFields.text(object, "spec", "runPolicy", "schedulingPolicy", "priorityClass");
  }

  @Override
  protected List<PodSetSlot> slots(JsonNode object) {
    List<PodSetSlot> slots = new ArrayList<>();
    for (String type : types) {
      JsonNode replica = JsonFields.at(object, "spec", replicas, type);
      if (replica.isObject()) {
        slots.add(
            PodSetSlot.of(
                object,
                type.toLowerCase(Locale.ROOT),
                replica.path("replicas").asInt(1),
                "/spec/" + replicas + "/" + type + "/template",
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
