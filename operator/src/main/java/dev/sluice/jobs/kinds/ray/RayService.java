package dev.sluice.jobs.kinds.ray;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.MultiKueueRules.StatusRules;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** RayServices: the pod sets of the cluster that serves. A service never finishes. */
public final class RayService extends RayClusterOwner {

  /** The kind. */
  public static final JobKind KIND = JobKind.of("ray.io", "v1", "RayService");

  private static final String CLUSTER = "rayClusterConfig";

  /** RayServices. */
  public RayService() {
    super(KIND, new RayPods(List.of("spec", CLUSTER)));
  }

  @Override
  public List<String> suspendField() {
    return List.of("spec", CLUSTER, "suspend");
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byStatus(managedByField(), suspendField())
            .managedByAnyOf(List.of(managedByField(), List.of("spec", CLUSTER, "managedBy")))
            .pushing(List.of(List.of("spec", "serveConfigV2")))
            .withoutAnnotations(RayPods.OF_THE_MANAGER)
            .resizedBy(pods()::resize)
            .scaledBy(pods())
            .with(
                StatusRules.atAnyTime(
                    List.of("serviceStatus", "numServeEndpoints"), List.of("Ready"))));
  }

  /**
   * An upgrade makes a second cluster for a while, and the Workload has room for one
   * (docs/ray.md#what-is-refused).
   */
  @Override
  public List<InvalidField> validateByGate(
      JsonNode object, boolean elastic, Predicate<FeatureGate> isOn) {
    JsonNode type = object.path("spec").path("upgradeStrategy").path("type");
    boolean refused =
        !elastic
            && !type.asText().equals("None")
            && isOn.test(FeatureGate.RAY_SERVICE_VALIDATE_UPGRADE_STRATEGY);
    return refused
        ? List.of(
            new InvalidField(
                "spec.upgradeStrategy.type",
                type,
                "must be None for a service in a queue that isn't elastic, because an upgrade"
                    + " makes a second cluster, for which there is no quota"))
        : super.validateByGate(object, elastic, isOn);
  }

  /** The cluster that serves, and the one that will. */
  @Override
  protected List<String> clusters(JsonNode object) {
    return Stream.of("activeServiceStatus", "pendingServiceStatus")
        .map(field -> JsonFields.text(object, "status", field, "rayClusterName"))
        .toList();
  }

  @Override
  protected boolean active(JsonNode object) {
    return podsReady(object);
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    return JobConditions.isTrue(object, "Ready");
  }

  /**
   * A deleted service whose state is in Redis exists until somebody removed its finalizers: Redis
   * is cleared by a Job that needs quota. The finalizer of a deletion in the foreground does not
   * count: it waits for the Workload.
   */
  @Override
  protected boolean cleansUp(JsonNode object) {
    return JsonFields.isPresent(object, "metadata", "deletionTimestamp")
        && pods().keepsStateInRedis(object)
        && JsonFields.texts(object, "metadata", "finalizers").stream()
            .anyMatch(it -> !it.equals("foregroundDeletion") && !it.equals(KueueConstants.MANAGED));
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    return Optional.empty();
  }
}
