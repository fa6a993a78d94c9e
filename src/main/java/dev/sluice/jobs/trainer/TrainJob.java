package dev.sluice.jobs.trainer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.FieldDefault;
import dev.sluice.jobs.JobConditions;
import dev.sluice.jobs.JobIntegration;
import dev.sluice.jobs.JobKind;
import dev.sluice.jobs.JobPatch;
import dev.sluice.jobs.JobReference;
import dev.sluice.jobs.JobState;
import dev.sluice.jobs.MultiKueueRules;
import dev.sluice.jobs.PodSetInfo;
import dev.sluice.jobs.PodSetTemplate;
import dev.sluice.jobs.PodTemplateMerger;
import dev.sluice.jobs.RbacRule;
import dev.sluice.jobs.ReferencedKind;
import dev.sluice.jobs.StartConflictException;
import dev.sluice.jobs.WebhookRules;
import dev.sluice.jobs.jobset.JobSet;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * TrainJobs: the pod sets are those of the JobSet that the trainer makes of a TrainJob and its
 * runtime. A TrainJob holds no pod templates; what a start gives to them is written into an entry
 * of its patches of the runtime, which a stop empties once the pods are gone.
 */
public final class TrainJob implements JobIntegration {

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
  public List<RbacRule> roles() {
    List<RbacRule> roles = new ArrayList<>(JobIntegration.super.roles());
    references().forEach(referenced -> roles.addAll(RbacRule.ofWatch(referenced.kind())));
    return roles;
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
  private static ObjectNode jobSet(JsonNode object) {
    ObjectNode jobSet = JsonNodeFactory.instance.objectNode();
    jobSet.set(
        "spec",
        RenderedJobSet.spec(
            object, JobReference.specOf(object), manager -> !manager.equals(MANAGER)));
    JsonNode jobs = JsonFields.at(object, "status", "jobsStatus");
    jobSet.putObject("status").set("replicatedJobsStatus", jobs.deepCopy());
    return jobSet;
  }

  @Override
  public JobState state(JsonNode object) {
    ObjectNode jobSet = jobSet(object);
    JobState jobs = jobSets.state(jobSet);
    boolean suspended = JsonFields.at(object, "spec", "suspend").asBoolean();
    boolean settled = suspended && !jobs.active();
    return new JobState(
        suspended,
        settled,
        settled && entry(object).filter(it -> !it.path(PATCH).isEmpty()).isPresent(),
        jobs.active(),
        JobConditions.end(object, "Complete", "Failed"),
        jobs.podsReady() && !jobSets.podSets(jobSet).isEmpty(),
        jobs.reclaimable());
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    return jobSets.podSets(jobSet(object));
  }

  private static Optional<JsonNode> entry(JsonNode object) {
    return JsonFields.list(object, "spec", PATCHES).stream()
        .filter(patch -> patch.path("manager").asText().equals(MANAGER))
        .findFirst();
  }

  @Override
  public List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts)
      throws StartConflictException {
    List<PodSetTemplate> podSets = podSets(object);
    List<JsonNode> jobs = JsonFields.list(jobSet(object), "spec", "replicatedJobs");
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode patched = patch.withObject("/template/spec").putArray("replicatedJobs");
    for (PodSetInfo start : starts) {
      int index = podSets.stream().map(PodSetTemplate::name).toList().indexOf(start.name());
      if (index < 0) {
        throw new StartConflictException("the job has no template of pod set " + start.name());
      }
      ObjectNode merged = podSets.get(index).template().deepCopy();
      PodTemplateMerger.merge(merged, start);
      ObjectNode job = patched.addObject();
      job.set("name", jobs.get(index).path("name"));
      job.withObject("/template/spec").set("template", template(merged, start));
    }
    ObjectNode started = object.deepCopy();
    ArrayNode patches = JsonFields.array(JsonFields.at(started, "spec", PATCHES));
    ObjectNode entry =
        entry(started)
            .map(ObjectNode.class::cast)
            .orElseGet(() -> patches.addObject().put("manager", MANAGER));
    entry.set(PATCH, patch);
    spec(started).put("suspend", false).set(PATCHES, patches);
    return List.of(new JobPatch(false, JsonMergePatch.between(object, started)));
  }

  /** A list of tolerations takes the place of the runtime's, and so has to name these, too. */
  private static ObjectNode template(ObjectNode merged, PodSetInfo start) {
    ObjectNode template = JsonNodeFactory.instance.objectNode();
    put(template, "metadata", "labels", start.labels());
    put(template, "metadata", "annotations", start.annotations());
    put(template, "spec", "nodeSelector", start.nodeSelector());
    ObjectNode spec = template.withObjectProperty("spec");
    if (!start.tolerations().isEmpty()) {
      spec.set("tolerations", merged.path("spec").path("tolerations"));
    }
    if (!start.schedulingGates().isEmpty()) {
      spec.set("schedulingGates", merged.path("spec").path("schedulingGates"));
    }
    return template;
  }

  private static void put(
      ObjectNode template, String parent, String field, Map<String, String> values) {
    if (!values.isEmpty()) {
      ObjectNode map = template.withObjectProperty(parent).putObject(field);
      values.forEach(map::put);
    }
  }

  private static ObjectNode spec(ObjectNode object) {
    return object.get("spec") instanceof ObjectNode present ? present : object.putObject("spec");
  }

  /** The patches stay as long as pods run that were made with them. */
  @Override
  public Optional<JobPatch> nextStopStep(JsonNode object, Optional<List<PodSetTemplate>> original) {
    ObjectNode stopped = object.deepCopy();
    JobState state = state(object);
    if (!state.suspended()) {
      spec(stopped).put("suspend", true);
    } else if (state.stopUnfinished()) {
      entry(stopped).ifPresent(entry -> ((ObjectNode) entry).remove(PATCH));
    }
    ObjectNode patch = JsonMergePatch.between(object, stopped);
    return patch.isEmpty() ? Optional.empty() : Optional.of(new JobPatch(false, patch));
  }
}
