package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.NameHash;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.PriorityClassRef;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/** Writes the Workload of a job (docs/workload-semantics.md#creation-of-workloads). */
public final class WorkloadFactory {

  private static final List<String> COPIED_ANNOTATIONS =
      List.of(KueueConstants.ELASTIC_JOB, LocalClusterAnnotations.MAY_RUN_HERE);

  /** Annotations that a Workload takes from its job while a feature gate is on. */
  private static final Map<String, FeatureGate> COPIED_BY_GATE =
      Map.of(
          KueueConstants.ADMISSION_GATED_BY,
          FeatureGate.ADMISSION_GATED_BY,
          KueueConstants.WAIT_FOR_PODS_READY,
          FeatureGate.WORKLOAD_LEVEL_WAIT_FOR_PODS_READY);

  private static final String DEADLINE = "activeDeadlineSeconds";

  private final JobOptions options;

  /** Under the given rules. */
  public WorkloadFactory(JobOptions options) {
    this.options = options;
  }

  /** The Workload as it is to be created for a job that controls it. */
  public ObjectNode compose(
      CachedJob job, List<PodSetTemplate> podSets, PrioritySource.Found priority) {
    ObjectNode workload = compose(job, name(job.ref()), podSets, priority);
    ObjectNode metadata = workload.withObjectProperty("metadata");
    metadata.putArray("ownerReferences").add(ownerReference(job.ref()));
    metadata
        .withObjectProperty("labels")
        .put(KueueConstants.JOB_UID, options.clusterState().jobUid().apply(job));
    return workload;
  }

  /** The same for an elastic job, whose first slice it is. */
  ObjectNode composeSlice(
      CachedJob job, String name, List<PodSetTemplate> podSets, PrioritySource.Found priority) {
    ObjectNode workload = compose(job, podSets, priority);
    ObjectNode metadata = workload.withObjectProperty("metadata").put("name", name);
    metadata.withObjectProperty("annotations").put(KueueConstants.WORKLOAD_SLICE_NAME, name);
    return workload;
  }

  /** A name for a slice of an elastic job that none of these has: it tells the generation. */
  String sliceName(CachedJob job, List<CachedWorkload> taken) {
    long referenced = job.isElastic() ? JobReference.generationOf(job.object()) : 0;
    String generation = job.generation() + (referenced > 0 ? "_" + referenced : "");
    String name = name(job.ref(), generation);
    for (int i = 1; isTaken(name, taken); i++) {
      name = name(job.ref(), generation + "-" + i);
    }
    return name;
  }

  private static boolean isTaken(String name, List<CachedWorkload> taken) {
    return taken.stream().anyMatch(workload -> workload.id().name().equals(name));
  }

  /** A Workload of this name that says what a job says, and that nobody owns yet. */
  public ObjectNode compose(
      CachedJob job, String name, List<PodSetTemplate> podSets, PrioritySource.Found priority) {
    ObjectNode workload = JsonNodeFactory.instance.objectNode();
    workload.put("apiVersion", KueueConstants.GROUP + "/v1beta2").put("kind", "Workload");
    ObjectNode metadata = workload.putObject("metadata");
    metadata.put("name", name).put("namespace", job.ref().namespace());
    metadata.putArray("finalizers").add(KueueConstants.RESOURCE_IN_USE);
    labels(job, metadata.putObject("labels"));
    annotations(job, metadata);
    limitOfQueue(job, workload);
    workload.set("spec", spec(job, podSets, priority));
    return workload;
  }

  /** The spec of the Workload, as the job has it now. */
  private ObjectNode spec(
      CachedJob job, List<PodSetTemplate> templates, PrioritySource.Found priority) {
    ObjectNode spec = JsonNodeFactory.instance.objectNode();
    spec.put("active", true);
    if (!job.queueName().isEmpty()) {
      spec.put("queueName", job.queueName());
    }
    spec.setAll(priority(priority));
    int limit = options.maximumExecutionTimeSeconds(job);
    if (limit > 0) {
      spec.put("maximumExecutionTimeSeconds", limit);
    }
    ArrayNode podSets = spec.putArray("podSets");
    for (PodSetTemplate podSet : templates) {
      ObjectNode item = podSets.addObject().put("name", podSet.name()).put("count", podSet.count());
      if (podSet.minCount() > 0 && options.on(FeatureGate.PARTIAL_ADMISSION)) {
        item.put("minCount", podSet.minCount());
      }
      podSet.topologyRequest().ifPresent(request -> item.set("topologyRequest", request));
      item.set("template", PodTemplateMerger.forWorkload(podSet.template()));
    }
    return spec;
  }

  /** The patch of the spec that makes it what the job says now. */
  public ObjectNode rewrite(
      CachedJob job, List<PodSetTemplate> podSets, PrioritySource.Found priority) {
    ObjectNode spec = spec(job, podSets, priority);
    spec.remove("active");
    for (String optional :
        List.of("queueName", "priorityClassRef", "maximumExecutionTimeSeconds")) {
      if (!spec.has(optional)) {
        spec.putNull(optional);
      }
    }
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.set("spec", spec);
    limitOfQueue(job, patch);
    return patch;
  }

  /** The fields of the spec that hold a priority. */
  static ObjectNode priority(PrioritySource.Found priority) {
    ObjectNode fields = JsonNodeFactory.instance.objectNode().put("priority", priority.value());
    priority
        .ref()
        .ifPresent(
            ref ->
                fields
                    .putObject("priorityClassRef")
                    .put("group", ref.group())
                    .put("kind", ref.kind())
                    .put("name", ref.name()));
    return fields;
  }

  /** The reference of a Workload to the job that controls it. */
  static ObjectNode ownerReference(JobRef ref) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("apiVersion", ref.kind().apiVersion())
        .put("kind", ref.kind().kind())
        .put("name", ref.name())
        .put("uid", ref.uid())
        .put("controller", true)
        .put("blockOwnerDeletion", true);
  }

  /** The name of the Workload of a job. */
  String name(JobRef ref) {
    return name(ref, "");
  }

  private String name(JobRef ref, String extra) {
    JobKind kind = ref.kind();
    return WorkloadNames.of(
        kind.kind(), kind.group(), ref.name(), ref.uid(), extra, options.longestWorkloadName());
  }

  private void labels(CachedJob job, ObjectNode labels) {
    Set<String> keys = new LinkedHashSet<>(options.copiedLabels());
    keys.addAll(options.clusterState().selectedLabels().get());
    for (String key : keys) {
      if (job.labels().containsKey(key)) {
        labels.put(key, job.labels().get(key));
      }
    }
  }

  /** Marks a Workload whose limit is that of its queue: it keeps the limit while it has quota. */
  private void limitOfQueue(CachedJob job, ObjectNode workload) {
    int limit = options.maximumExecutionTimeSeconds(job);
    if (limit != job.maximumExecutionTimeSeconds()) {
      workload
          .withObjectProperty("metadata")
          .withObjectProperty("annotations")
          .put(RunTimeAnnotations.MAX, limit + "s");
    }
  }

  private boolean isCopiedByGate(String key) {
    FeatureGate gate = COPIED_BY_GATE.get(key);
    return gate != null && options.on(gate);
  }

  private void annotations(CachedJob job, ObjectNode metadata) {
    for (Map.Entry<String, String> annotation : job.annotations().entrySet()) {
      String key = annotation.getKey();
      if (key.startsWith(KueueConstants.PROVISIONING_REQUEST_PREFIX)
          || COPIED_ANNOTATIONS.contains(key)
          || PlacementLimits.KEYS.contains(key)
          || options.copied().annotations().contains(key)
          || isCopiedByGate(key)) {
        metadata.withObjectProperty("annotations").put(key, annotation.getValue());
      }
    }
    RunTimeAnnotations.expectedText(job.annotations())
        .ifPresent(
            text ->
                metadata.withObjectProperty("annotations").put(RunTimeAnnotations.EXPECTED, text));
    deadline(job)
        .ifPresent(
            text ->
                metadata.withObjectProperty("annotations").put(RunTimeAnnotations.DEADLINE, text));
    for (String key : List.of(CostAnnotations.MAX_PRICE, CostAnnotations.MAX_DELAY)) {
      CostAnnotations.allowedText(job.annotations(), key)
          .ifPresent(text -> metadata.withObjectProperty("annotations").put(key, text));
    }
    CheckpointAnnotations.checkpointedText(job.annotations())
        .ifPresent(
            text ->
                metadata
                    .withObjectProperty("annotations")
                    .put(CheckpointAnnotations.CHECKPOINTED_AT, text));
  }

  /**
   * How long the controller of a job lets each of its runs last: {@code activeDeadlineSeconds} of
   * the spec, or of the run policy that Kubeflow's kinds have there.
   */
  private static Optional<String> deadline(CachedJob job) {
    if (!job.text().contains(DEADLINE)) {
      return Optional.empty();
    }
    JsonNode spec = job.object().path("spec");
    return Stream.of(spec, spec.path("runPolicy"))
        .map(each -> each.path(DEADLINE))
        .filter(seconds -> seconds.isIntegralNumber() && seconds.canConvertToLong())
        .map(seconds -> seconds.longValue() + "s")
        .filter(text -> RunTimeAnnotations.parse(text).isPresent())
        .findFirst();
  }

  /** The priority classes of both kinds. Readable from any thread. */
  public interface PriorityLookup {

    /** The value of a WorkloadPriorityClass; empty when there is none of this name. */
    OptionalInt workloadPriorityClass(String name);

    /** The value of a core PriorityClass; empty when there is none of this name. */
    OptionalInt priorityClass(String name);

    /** The core PriorityClass that pods without one get: of several defaults the lowest. */
    Optional<Named> globalDefault();

    /** A class with its value. */
    record Named(String name, int value) {}
  }

  /**
   * Where the priority of a job comes from, in the order of
   * docs/workload-semantics.md#creation-of-workloads.
   */
  public sealed interface PrioritySource {

    /** A value, and the class that it was read from; empty when nobody gave any. */
    record Found(int value, Optional<PriorityClassRef> ref) implements PrioritySource {}

    /** The job names a class that doesn't exist. */
    record Missing(String kind, String name) implements PrioritySource {}

    /**
     * Label of the job, class that the kind names, class of the first template that names one,
     * global default, 0.
     */
    static PrioritySource of(CachedJob job, PriorityLookup classes) {
      String label = job.workloadPriorityClass();
      if (!label.isEmpty()) {
        return found(
            KueueConstants.GROUP,
            "WorkloadPriorityClass",
            label,
            classes.workloadPriorityClass(label));
      }
      String core = coreClass(job);
      if (!core.isEmpty()) {
        return found("scheduling.k8s.io", "PriorityClass", core, classes.priorityClass(core));
      }
      return classes
          .globalDefault()
          .map(
              named ->
                  found(
                      "scheduling.k8s.io",
                      "PriorityClass",
                      named.name(),
                      OptionalInt.of(named.value())))
          .orElse(new Found(0, Optional.empty()));
    }

    private static String coreClass(CachedJob job) {
      if (!job.priorityClass().isEmpty()) {
        return job.priorityClass();
      }
      return job.podSets().stream()
          .map(CachedJob.PodSet::priorityClassName)
          .filter(name -> !name.isEmpty())
          .findFirst()
          .orElse("");
    }

    private static PrioritySource found(String group, String kind, String name, OptionalInt value) {
      return value.isEmpty()
          ? new Missing(kind, name)
          : new Found(value.getAsInt(), Optional.of(new PriorityClassRef(group, kind, name)));
    }
  }

  /** The actions that write into a Workload what its job says. */
  public static final class WorkloadActions {

    /** The delay after which a job is looked at again whose priority class doesn't exist. */
    static final Duration RETRY = Duration.ofSeconds(5);

    private static final Duration SOON = Duration.ofMillis(500);

    private final JobIntegration integration;
    private final WorkloadFactory workloads;

    /** For jobs of the integration's kind, by this factory. */
    public WorkloadActions(JobIntegration integration, WorkloadFactory workloads) {
      this.integration = integration;
      this.workloads = workloads;
    }

    /**
     * Creates the Workload of a job.
     *
     * @param elastic whether it is the first slice of an elastic job
     */
    List<JobAction> create(ReconcileContext context, boolean elastic) {
      CachedJob job = context.job();
      return withPriority(
          context,
          priority ->
              new CreateWorkload(
                  elastic
                      ? workloads.composeSlice(
                          job, workloads.sliceName(job, context.owned()), podSets(job), priority)
                      : workloads.compose(job, podSets(job), priority)));
    }

    /**
     * Changes a Workload to what its job says now.
     *
     * @param note what is said about it in an event
     */
    public List<JobAction> rewrite(ReconcileContext context, CachedWorkload workload, String note) {
      CachedJob job = context.job();
      return withPriority(
          context,
          priority ->
              new PatchWorkload(workload, workloads.rewrite(job, podSets(job), priority), note));
    }

    /**
     * An action that needs the priority of a job; a warning if the priority class doesn't exist.
     */
    public static List<JobAction> withPriority(
        ReconcileContext context, Function<PrioritySource.Found, JobAction> action) {
      return switch (PrioritySource.of(context.job(), context.priorities())) {
        case PrioritySource.Found found -> List.of(action.apply(found));
        case PrioritySource.Missing missing -> missing(context, missing);
      };
    }

    /** The warning for a priority class that doesn't exist; the job is looked at again. */
    static List<JobAction> missing(ReconcileContext context, PrioritySource.Missing missing) {
      return awaited(
          context,
          new Warn(
              "WorkloadPriorityClassNotFound",
              "%s \"%s\" does not exist".formatted(missing.kind(), missing.name())));
    }

    /**
     * The cache may see an object that was created together with the job a moment after the job;
     * until then there is no warning.
     */
    static List<JobAction> awaited(ReconcileContext context, Warn warning) {
      Instant patience = context.job().createdAt().plus(RETRY);
      return context.now().isBefore(patience)
          ? List.of(new Requeue(SOON))
          : List.of(warning, new Requeue(RETRY));
    }

    /** The pod sets of a job, with their templates. */
    public List<PodSetTemplate> podSets(CachedJob job) {
      return integration.podSets(job.object());
    }
  }

  /**
   * Names of the Workloads that are made for jobs
   * (docs/workload-semantics.md#creation-of-workloads).
   */
  public static final class WorkloadNames {

    /** The longest name of an object. */
    public static final int LONGEST = 253;

    /** The longest name with the gate ShortWorkloadNames. */
    public static final int SHORT = 63;

    private static final int HASH = 5;

    private WorkloadNames() {}

    /**
     * The name of a job's Workload: kind and name, cut to size, and a hash that tells namesakes
     * apart.
     *
     * @param group the kind's API group; empty for the core group
     * @param extra what tells several Workloads of one job apart; empty when it has only one
     * @param longest how long the name may become
     */
    public static String of(
        String kind, String group, String jobName, String jobUid, String extra, int longest) {
      String hashed = kind + "\n" + group + "\n" + jobName + "\n" + jobUid;
      if (!extra.isEmpty()) {
        hashed += "\n" + extra;
      }
      String readable = kind.toLowerCase(Locale.ROOT) + "-" + jobName;
      int room = longest - HASH - 1;
      return readable.substring(0, Math.min(room, readable.length()))
          + "-"
          + NameHash.sha1(hashed).substring(0, HASH);
    }
  }
}
