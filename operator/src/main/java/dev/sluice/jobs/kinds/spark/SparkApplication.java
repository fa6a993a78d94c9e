package dev.sluice.jobs.kinds.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.ReviewedPodSet;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.SuspendableJob;
import dev.sluice.jobs.kinds.pod.SinglePod;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * SparkApplications: a pod set for the driver, and one for the executors, which the driver creates.
 * The object holds no whole pod templates: they are composed of what it says of each role.
 */
public final class SparkApplication extends SuspendableJob {

  /** The kind. */
  public static final JobKind KIND =
      JobKind.of("sparkoperator.k8s.io", "v1beta2", "SparkApplication");

  private static final String ROLE = "spark-role";
  private static final String EXECUTOR = "executor";
  private static final String APPLICATION = "sparkoperator.k8s.io/app-name";
  private static final String CLUSTER_MODE = "cluster";

  private static final String DYNAMIC_ALLOCATION = "spark.dynamicAllocation.enabled";
  private static final String NOT_ELASTIC =
      "a job in a queue can't scale itself unless it is elastic, and SparkApplications can't be"
          + " elastic";

  private static final List<SparkRole> ROLES = List.of(SparkRole.DRIVER, SparkRole.EXECUTOR);

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public List<String> managedByField() {
    return List.of();
  }

  /** The status of an application is never written: none is sent to worker clusters. */
  @Override
  public List<RbacRule> roles() {
    return RbacRule.ofControllerWithoutStatus(KIND, "delete");
  }

  @Override
  public boolean validatesQueuedUpdatesOnly() {
    return true;
  }

  @Override
  public boolean acceptsPrebuiltWorkload() {
    return false;
  }

  /** The driver's pod creates the executors, and is their controller. */
  @Override
  public Optional<String> jobBehind(String owner, String kind, Map<String, String> labels) {
    String pod = SinglePod.KIND.kind();
    return owner.equals(pod) && kind.equals(pod) && EXECUTOR.equals(labels.get(ROLE))
        ? Optional.ofNullable(labels.get(APPLICATION))
        : Optional.empty();
  }

  @Override
  public List<InvalidField> validate(JsonNode object, boolean elastic) {
    List<InvalidField> invalid = new ArrayList<>();
    JsonNode mode = JsonFields.at(object, "spec", "mode");
    if (!mode.isMissingNode() && !mode.asText().equals(CLUSTER_MODE)) {
      invalid.add(
          new InvalidField(
              "spec.mode", mode, "must be \"" + CLUSTER_MODE + "\" for a job in a queue"));
    }
    JsonNode dynamic = JsonFields.at(object, "spec", "dynamicAllocation", "enabled");
    if (dynamic.asBoolean()) {
      invalid.add(new InvalidField("spec.dynamicAllocation.enabled", dynamic, NOT_ELASTIC));
    }
    invalid.addAll(uncounted(object));
    return invalid;
  }

  /** Properties by which the application gets other pods than its fields say. */
  @Override
  protected List<InvalidField> uncounted(JsonNode object) {
    List<InvalidField> uncounted = new ArrayList<>();
    JsonNode dynamic = JsonFields.at(object, "spec", "sparkConf", DYNAMIC_ALLOCATION);
    if (dynamic.asText().strip().equalsIgnoreCase("true")) {
      uncounted.add(
          new InvalidField("spec.sparkConf[" + DYNAMIC_ALLOCATION + "]", dynamic, NOT_ELASTIC));
    }
    ROLES.forEach(role -> uncounted.addAll(role.resources(object).errors()));
    return uncounted;
  }

  @Override
  public List<ReviewedPodSet> reviewedPodSets(JsonNode object) {
    return ROLES.stream().map(role -> role.reviewed(object)).toList();
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    return ROLES.stream().map(role -> role.podSet(object)).toList();
  }

  /** The operator that people of Kube Queue have holds an application without a state so. */
  @Override
  protected boolean readsSuspendAnnotation() {
    return true;
  }

  @Override
  public boolean neverStarted(JsonNode object) {
    return super.neverStarted(object) && (isSuspended(object) || SparkState.of(object).isEmpty());
  }

  /** An application that is being stopped, or cleaned up, still has pods. */
  @Override
  protected boolean active(JsonNode object) {
    return SparkState.hasPods(object);
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    return SparkState.executorsUp(object) >= SparkRole.EXECUTOR.count(object);
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    return SparkState.end(object);
  }

  @Override
  protected boolean looksStarted(JsonNode object) {
    return ROLES.stream().anyMatch(role -> role.looksStarted(object));
  }

  @Override
  protected void give(ObjectNode job, List<PodSetInfo> starts) throws StartConflictException {
    for (PodSetInfo start : starts) {
      partOf(ROLES, SparkRole::podSetName, start).give(job, start);
    }
    SparkRole.shareNodeSelector(job);
  }

  @Override
  protected void takeBack(
      JsonNode object, ObjectNode job, Optional<List<PodSetTemplate>> original) {
    for (SparkRole role : ROLES) {
      if (role.looksStarted(object)) {
        role.takeBack(job, templateOf(original, role.podSetName()));
      }
    }
  }
}
