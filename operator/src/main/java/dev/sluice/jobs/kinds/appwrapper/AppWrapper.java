package dev.sluice.jobs.kinds.appwrapper;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.ReviewedPodSet;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.SuspendableJob;
import dev.sluice.jobs.kind.WebhookRules;
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
public final class AppWrapper extends SuspendableJob {

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
  protected boolean active(JsonNode object) {
    return JobConditions.isTrue(object, "QuotaReserved");
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    return JobConditions.isTrue(object, "PodsReady");
  }

  /** One that failed ends when what it had created is gone. */
  @Override
  protected Optional<JobState.End> end(JsonNode object) {
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

  @Override
  protected boolean looksStarted(JsonNode object) {
    return components(object).stream().anyMatch(AppWrapper::hasInfos);
  }

  private static boolean hasInfos(JsonNode component) {
    return JsonFields.list(component, INFOS).stream()
        .anyMatch(info -> info.path("labels").has(KueueConstants.PODSET));
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    List<PodSetTemplate> podSets = new ArrayList<>();
    for (ComponentPodSet podSet : ComponentPodSet.of(components(object))) {
      podSets.add(podSet.named(name(object, podSets.size())));
    }
    return podSets;
  }

  @Override
  public List<ReviewedPodSet> reviewedPodSets(JsonNode object) {
    return ComponentPodSet.reviewed(components(object));
  }

  @Override
  public List<InvalidField> validate(JsonNode object, boolean elastic) {
    return uncounted(object);
  }

  /**
   * Components that make other pods than the pod sets say: a path that leads to no pod template,
   * pod sets that aren't those of a known kind, a kind that makes pods and declares none.
   */
  @Override
  protected List<InvalidField> uncounted(JsonNode object) {
    List<InvalidField> uncounted = new ArrayList<>();
    List<JsonNode> components = components(object);
    for (int i = 0; i < components.size(); i++) {
      ComponentValidation.add(components.get(i), "spec.components[" + i + "]", uncounted);
    }
    return uncounted;
  }

  private static String name(JsonNode object, int index) {
    return object.path("metadata").path("name").asText() + "-" + index;
  }

  @Override
  protected void give(ObjectNode job, List<PodSetInfo> starts) throws StartConflictException {
    Map<String, PodSetInfo> infos = new HashMap<>();
    starts.forEach(start -> infos.put(start.name(), start));
    int index = 0;
    for (JsonNode component : components(job)) {
      ArrayNode written = JsonNodeFactory.instance.arrayNode();
      for (ComponentPodSet podSet : ComponentPodSet.of(component)) {
        written.add(info(podSet, infos.remove(name(job, index++))));
      }
      if (!written.isEmpty() && component instanceof ObjectNode holder) {
        holder.set(INFOS, written);
      }
    }
    if (!infos.isEmpty()) {
      throw new StartConflictException("no component has the pod sets " + infos.keySet());
    }
  }

  /** What the controller merges into the template, which must not contradict it. */
  private static ObjectNode info(ComponentPodSet podSet, @Nullable PodSetInfo start)
      throws StartConflictException {
    ObjectNode info = JsonNodeFactory.instance.objectNode();
    if (start == null) {
      return info;
    }
    PodTemplateMerger.merge(podSet.template().deepCopy(), start);
    ObjectNode given = JsonNodeFactory.instance.objectNode();
    PodTemplateMerger.merge(given, start);
    given.forEach(part -> info.setAll((ObjectNode) part));
    return info;
  }

  @Override
  protected void takeBack(
      JsonNode object, ObjectNode job, Optional<List<PodSetTemplate>> original) {
    for (JsonNode component : components(job)) {
      if (component instanceof ObjectNode holder && (!isSuspended(object) || hasInfos(component))) {
        holder.remove(INFOS);
      }
    }
  }
}
