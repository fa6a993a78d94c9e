package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.GatedKind;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobIntegration.JobStopProcedure;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.TopologyRequests;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.kube.json.JsonMergePatch;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A Pod that is a job of its own (docs/pods.md). */
public final class SinglePod implements JobIntegration, GatedKind {

  /** The kind. */
  public static final JobKind KIND = new JobKind("", "v1", "Pod", "pods", "pod");

  private static final String POD_SET = "main";
  private static final String TERMINATION_TARGET = "TerminationTarget";
  private static final String FIELD_OWNER = "kueue";
  private static final int LONGEST_MESSAGE = 32768;

  /** Those that a start takes away; that of the topology stays where a place is to come. */
  private static final Set<String> GATES =
      Set.of(KueueConstants.ADMISSION_GATE, KueueConstants.TOPOLOGY_GATE);

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atCreation(new WebhookRules.Review.GatedPod());
  }

  /** A pod is no controller. */
  @Override
  public boolean creates(String kind) {
    return false;
  }

  @Override
  public boolean sharesWorkload() {
    return true;
  }

  /**
   * Fields that the manager's API server, scheduler and webhooks wrote are dropped; the worker
   * writes its own. The volume with the token of the service account is copied, so that the remote
   * pod matches its Workload.
   */
  @Override
  public Optional<MultiKueueRules> multiKueue() {
    List<String> gates = List.of("spec", "schedulingGates");
    return Optional.of(
        MultiKueueRules.byPods(
            new MultiKueueRules.Dropped(
                List.of(
                    List.of("spec", "nodeName"),
                    List.of("spec", "priority"),
                    List.of("spec", "preemptionPolicy"),
                    List.of("spec", "overhead")),
                List.of(
                    new MultiKueueRules.Entry(gates, "name", KueueConstants.ADMISSION_GATE),
                    new MultiKueueRules.Entry(gates, "name", KueueConstants.TOPOLOGY_GATE))),
            MultiKueueRules.Pods.ITSELF));
  }

  /** Pods are stopped by deleting them. */
  @Override
  public List<RbacRule> roles() {
    return RbacRule.ofController(KIND, "delete");
  }

  /** A pod of a group stands for all of the group. */
  @Override
  public Made made(ObjectNode pod) {
    String total =
        pod.path("metadata")
            .path("annotations")
            .path(KueueConstants.POD_GROUP_TOTAL_COUNT)
            .asText();
    int count = Math.max(1, CachedPodParser.count(total));
    return new Made(
        pod, count, count > 1 ? "all " + count + " pods of the group are taken to be alike" : "");
  }

  @Override
  public JobState state(JsonNode pod) {
    Optional<JobState.End> end = end(pod);
    return new JobState(
        isGated(pod) || end.isPresent(),
        true,
        false,
        phase(pod).equals("Running"),
        end,
        isReady(pod),
        Map.of());
  }

  static String phase(JsonNode pod) {
    return pod.path("status").path("phase").asText();
  }

  private static Optional<JobState.End> end(JsonNode pod) {
    String message = pod.path("status").path("message").asText();
    return switch (phase(pod)) {
      case "Succeeded" ->
          Optional.of(new JobState.End(true, message.isEmpty() ? "The pod succeeded" : message));
      case "Failed" ->
          Optional.of(new JobState.End(false, message.isEmpty() ? "The pod failed" : message));
      default -> Optional.empty();
    };
  }

  /** Whether it waits for its admission. */
  static boolean isGated(JsonNode pod) {
    for (JsonNode gate : pod.path("spec").path("schedulingGates")) {
      if (gate.path("name").asText().equals(KueueConstants.ADMISSION_GATE)) {
        return true;
      }
    }
    return false;
  }

  /** Whether its condition Ready is True. */
  static boolean isReady(JsonNode pod) {
    return condition(pod, "Ready").isPresent();
  }

  /** The condition of this type, if it is True. */
  private static Optional<JsonNode> condition(JsonNode pod, String type) {
    for (JsonNode condition : pod.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(type)
          && condition.path("status").asText().equals("True")) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode pod) {
    return List.of(podSet(pod, POD_SET, 1));
  }

  /**
   * A pod set of so many pods like this one. Of its metadata the template has what is read of
   * templates alone: how groups are spread.
   */
  static PodSetTemplate podSet(JsonNode pod, String name, int count) {
    ObjectNode template = JsonNodeFactory.instance.objectNode();
    String spreading = KueueConstants.PODSET_TOPOLOGY_SPREADING;
    JsonNode rules = pod.path("metadata").path("annotations").path(spreading);
    if (rules.isTextual()) {
      template.withObject("/metadata/annotations").set(spreading, rules);
    }
    template.set("spec", pod.path("spec"));
    return new PodSetTemplate(
        name, count, 0, template, TopologyRequests.of(pod, KueueConstants.POD_GROUP_POD_INDEX));
  }

  @Override
  public List<JobPatch> start(ObjectNode pod, List<PodSetInfo> starts)
      throws StartConflictException {
    return List.of(start(pod, starts.getFirst()));
  }

  /**
   * The write that gives a pod what its pod set got, and takes the gates away, except for those
   * that its pod set got.
   */
  static JobPatch start(ObjectNode pod, PodSetInfo start) throws StartConflictException {
    ObjectNode started = pod.deepCopy();
    PodTemplateMerger.merge(started, start);
    ArrayNode gates = JsonNodeFactory.instance.arrayNode();
    for (JsonNode gate : started.path("spec").path("schedulingGates")) {
      String name = gate.path("name").asText();
      if (!GATES.contains(name) || start.schedulingGates().contains(name)) {
        gates.add(gate);
      }
    }
    ObjectNode spec = started.withObjectProperty("spec");
    if (gates.isEmpty()) {
      spec.remove("schedulingGates");
    } else {
      spec.set("schedulingGates", gates);
    }
    return new JobPatch(false, JsonMergePatch.between(pod, started));
  }

  /** A pod can't be suspended. */
  @Override
  public Optional<JobPatch> nextStopStep(JsonNode pod, Optional<List<PodSetTemplate>> original) {
    return Optional.empty();
  }

  @Override
  public Optional<JobStopProcedure> ending() {
    return Optional.of(SinglePod::terminationPatch);
  }

  private static Optional<JobPatch> terminationPatch(
      JsonNode pod, String reason, String note, Instant now) {
    if (condition(pod, TERMINATION_TARGET).isPresent()) {
      return Optional.empty();
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    ArrayNode conditions = body.putObject("status").putArray("conditions");
    for (JsonNode condition : pod.path("status").path("conditions")) {
      if (!condition.path("type").asText().equals(TERMINATION_TARGET)) {
        conditions.add(condition.deepCopy());
      }
    }
    conditions
        .addObject()
        .put("type", TERMINATION_TARGET)
        .put("status", "True")
        .put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString())
        .put("reason", reason)
        .put("message", note.substring(0, Math.min(LONGEST_MESSAGE, note.length())));
    return Optional.of(new JobPatch(true, FIELD_OWNER, body));
  }
}
