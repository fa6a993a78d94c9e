package dev.sluice.jobs.appwrapper;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.JobConditions;
import dev.sluice.jobs.JobIntegration;
import dev.sluice.jobs.JobKind;
import dev.sluice.jobs.JobPatch;
import dev.sluice.jobs.JobState;
import dev.sluice.jobs.MultiKueueRules;
import dev.sluice.jobs.PodSetInfo;
import dev.sluice.jobs.PodSetTemplate;
import dev.sluice.jobs.PodTemplateMerger;
import dev.sluice.jobs.StartConflictException;
import dev.sluice.jobs.WebhookRules;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * AppWrappers: a pod set for each set of equal pods that the components make, in their order. What
 * a start gives to pods is written to the field {@code podSetInfos} of each component, from which
 * the controller of AppWrappers merges it into what it creates; the components themselves stay as
 * they are. The objects that are created are left alone.
 */
public final class AppWrapper implements JobIntegration {

  /** The kind. */
  public static final JobKind KIND = JobKind.of("workload.codeflare.dev", "v1beta2", "AppWrapper");

  private static final String CONTROLLER = "workload.codeflare.dev/appwrapper-controller";
  private static final String INFOS = "podSetInfos";

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.suspendField(suspendField(), managedByField(), CONTROLLER);
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byStatus(managedByField(), suspendField())
            .with(
                MultiKueueRules.StatusRules.atAnyTime(
                    List.of("phase"), List.of("QuotaReserved", "ResourcesDeployed", "PodsReady"))));
  }

  @Override
  public JobState state(JsonNode object) {
    boolean suspended = object.path("spec").path("suspend").asBoolean();
    boolean active = JobConditions.isTrue(object, "QuotaReserved");
    return new JobState(
        suspended,
        suspended && !active,
        suspended && components(object).stream().anyMatch(AppWrapper::looksStarted),
        active,
        end(object),
        JobConditions.isTrue(object, "PodsReady"),
        Map.of());
  }

  /** One that failed ends when what it had created is gone. */
  private static Optional<JobState.End> end(JsonNode object) {
    return switch (object.path("status").path("phase").asText()) {
      case "Succeeded" -> Optional.of(new JobState.End(true, "AppWrapper finished successfully"));
      case "Failed" ->
          JobConditions.isTrue(object, "ResourcesDeployed")
              ? Optional.empty()
              : Optional.of(new JobState.End(false, "AppWrapper failed"));
      default -> Optional.empty();
    };
  }

  private static List<JsonNode> components(JsonNode object) {
    return JsonFields.list(object, "spec", "components");
  }

  private static boolean looksStarted(JsonNode component) {
    return JsonFields.list(component, INFOS).stream()
        .anyMatch(info -> info.path("labels").has(KueueConstants.PODSET));
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    List<PodSetTemplate> podSets = new ArrayList<>();
    for (JsonNode component : components(object)) {
      for (ComponentPodSet podSet : ComponentPodSet.of(component)) {
        podSets.add(
            new PodSetTemplate(
                name(object, podSets.size()),
                podSet.replicas(),
                0,
                podSet.template(),
                podSet.topologyRequest()));
      }
    }
    return podSets;
  }

  private static String name(JsonNode object, int index) {
    return object.path("metadata").path("name").asText() + "-" + index;
  }

  @Override
  public List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts)
      throws StartConflictException {
    Map<String, PodSetInfo> infos = new HashMap<>();
    starts.forEach(start -> infos.put(start.name(), start));
    ObjectNode started = object.deepCopy();
    int index = 0;
    for (JsonNode component : components(started)) {
      ArrayNode written = JsonNodeFactory.instance.arrayNode();
      for (ComponentPodSet podSet : ComponentPodSet.of(component)) {
        written.add(info(podSet, infos.remove(name(object, index++))));
      }
      if (!written.isEmpty() && component instanceof ObjectNode holder) {
        holder.set(INFOS, written);
      }
    }
    if (!infos.isEmpty()) {
      throw new StartConflictException("no component has the pod sets " + infos.keySet());
    }
    suspend(started, false);
    return List.of(new JobPatch(false, JsonMergePatch.between(object, started)));
  }

  /** What the controller merges into the template, which must not contradict it. */
  private static ObjectNode info(ComponentPodSet podSet, @Nullable PodSetInfo start)
      throws StartConflictException {
    ObjectNode info = JsonNodeFactory.instance.objectNode();
    if (start == null) {
      return info;
    }
    PodTemplateMerger.merge(podSet.template().deepCopy(), start);
    put(info, "annotations", start.annotations());
    put(info, "labels", start.labels());
    put(info, "nodeSelector", start.nodeSelector());
    start.tolerations().forEach(it -> info.withArrayProperty("tolerations").add(it.deepCopy()));
    start
        .schedulingGates()
        .forEach(it -> info.withArrayProperty("schedulingGates").addObject().put("name", it));
    return info;
  }

  private static void put(ObjectNode info, String field, Map<String, String> given) {
    given.forEach((key, value) -> info.withObjectProperty(field).put(key, value));
  }

  @Override
  public Optional<JobPatch> nextStopStep(JsonNode object, Optional<List<PodSetTemplate>> original) {
    ObjectNode stopped = object.deepCopy();
    boolean suspended = object.path("spec").path("suspend").asBoolean();
    for (JsonNode component : components(stopped)) {
      if (component instanceof ObjectNode holder && (!suspended || looksStarted(component))) {
        holder.remove(INFOS);
      }
    }
    suspend(stopped, true);
    ObjectNode patch = JsonMergePatch.between(object, stopped);
    return patch.isEmpty() ? Optional.empty() : Optional.of(new JobPatch(false, patch));
  }

  private static void suspend(ObjectNode object, boolean suspended) {
    ObjectNode spec =
        object.get("spec") instanceof ObjectNode present ? present : object.putObject("spec");
    spec.put("suspend", suspended);
  }
}
