package dev.sluice.jobs.kinds.trainer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription.FieldDefault;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.ReferencedKind;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.SuspendableJob;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.jobs.kinds.jobset.JobSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * TrainJobs: the pod sets are those of the JobSet that the trainer makes of a TrainJob and its
 * runtime. A TrainJob holds no pod templates; what a start gives to them is written into an entry
 * of its patches of the runtime, which a stop empties once the pods are gone.
 */
public final class TrainJob extends SuspendableJob {

  /** The manager that owns the entry of the patches. */
  public static final String MANAGER = "kueue.x-k8s.io/manager";

  /** Runtimes of one namespace. */
  public static final ReferencedKind RUNTIME = new ReferencedKind(kind("TrainingRuntime"), true);

  /** Runtimes of all namespaces. */
  public static final ReferencedKind CLUSTER_RUNTIME =
      new ReferencedKind(kind("ClusterTrainingRuntime"), false);

  private static final JobKind KIND = kind("TrainJob");
  private static final String CONTROLLER = "trainer.kubeflow.org/trainjob-controller";
  private static final String PATCHES = "runtimePatches";
  private static final String PATCH = "trainingRuntimeSpec";

  private final JobSet jobSets = new JobSet();

  private static JobKind kind(String kind) {
    return JobKind.of("trainer.kubeflow.org", "v1alpha1", kind);
  }

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.suspendField(suspendField(), managedByField(), CONTROLLER);
  }

  @Override
  public List<FieldDefault> defaults(JsonNode object) {
    if (entry(object).isPresent()) {
      return List.of();
    }
    ArrayNode patches = JsonFields.array(JsonFields.at(object, "spec", PATCHES)).deepCopy();
    patches.addObject().put("manager", MANAGER);
    return List.of(new FieldDefault(List.of("spec", PATCHES), patches));
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byStatus(managedByField(), suspendField())
            .dropping(
                new MultiKueueRules.Dropped(
                    List.of(),
                    List.of(
                        new MultiKueueRules.Entry(List.of("spec", PATCHES), "manager", MANAGER))))
            .withPodFields("jobsStatus"));
  }

  @Override
  public List<ReferencedKind> references() {
    return List.of(RUNTIME, CLUSTER_RUNTIME);
  }

  @Override
  public Optional<JobReference> reference(JsonNode object) {
    JsonNode runtime = JsonFields.at(object, "spec", "runtimeRef");
    ReferencedKind kind =
        runtime.path("kind").asText().equals(RUNTIME.kind().kind()) ? RUNTIME : CLUSTER_RUNTIME;
    return Optional.of(new JobReference(kind, runtime.path("name").asText()));
  }

  /** The JobSet that the trainer makes, without what this program wrote into the patches. */
  @Override
  protected JsonNode observed(JsonNode object) {
    return RenderedJobSet.of(object, manager -> !manager.equals(MANAGER));
  }

  @Override
  protected boolean active(JsonNode jobSet) {
    return jobSets.state(jobSet).active();
  }

  @Override
  protected boolean podsReady(JsonNode jobSet) {
    return jobSets.state(jobSet).podsReady() && !jobSets.podSets(jobSet).isEmpty();
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    return JobConditions.end(object, "Complete", "Failed");
  }

  @Override
  protected Map<String, Integer> reclaimable(JsonNode jobSet) {
    return jobSets.state(jobSet).reclaimable();
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    return jobSets.podSets(observed(object));
  }

  private static Optional<JsonNode> entry(JsonNode object) {
    return JsonFields.list(object, "spec", PATCHES).stream()
        .filter(patch -> patch.path("manager").asText().equals(MANAGER))
        .findFirst();
  }

  /** The patches stay as long as pods run that were made with them. */
  @Override
  protected boolean looksStarted(JsonNode object) {
    return entry(object).filter(it -> !it.path(PATCH).isEmpty()).isPresent()
        && !active(observed(object));
  }

  @Override
  protected void give(ObjectNode job, List<PodSetInfo> starts) throws StartConflictException {
    List<PodSetTemplate> podSets = podSets(job);
    List<JsonNode> jobs = JsonFields.list(observed(job), "spec", "replicatedJobs");
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode patched = patch.withObject("/template/spec").putArray("replicatedJobs");
    for (PodSetInfo start : starts) {
      PodSetTemplate podSet = partOf(podSets, PodSetTemplate::name, start);
      ObjectNode replicated = patched.addObject();
      replicated.set("name", jobs.get(podSets.indexOf(podSet)).path("name"));
      replicated.withObject("/template/spec").set("template", patch(podSet.template(), start));
    }
    ArrayNode patches = JsonFields.array(JsonFields.at(job, "spec", PATCHES));
    if (entry(job).isEmpty()) {
      patches.addObject().put("manager", MANAGER);
    }
    JsonFields.child(job, "spec").set(PATCHES, patches);
    entry(job).ifPresent(entry -> ((ObjectNode) entry).set(PATCH, patch));
  }

  /** A list of tolerations takes the place of the runtime's, and so has to name these, too. */
  private static ObjectNode patch(ObjectNode template, PodSetInfo start)
      throws StartConflictException {
    ObjectNode merged = template.deepCopy();
    PodTemplateMerger.merge(merged, start);
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    PodTemplateMerger.merge(patch, start);
    for (String list : List.of("tolerations", "schedulingGates")) {
      if (patch.path("spec") instanceof ObjectNode spec && spec.has(list)) {
        spec.set(list, merged.path("spec").path(list));
      }
    }
    return patch;
  }

  @Override
  protected void takeBack(
      JsonNode object, ObjectNode job, Optional<List<PodSetTemplate>> original) {
    if (isSuspended(object) && looksStarted(object)) {
      entry(job).ifPresent(entry -> ((ObjectNode) entry).remove(PATCH));
    }
  }
}
