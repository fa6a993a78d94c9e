package dev.sluice.jobs.kinds.batch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Booleans;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.placement.RemoteStatusAnnotation;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.TopologyRequests;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Jobs of batch/v1. */
public final class BatchJob implements JobIntegration {

  /** The kind. */
  public static final JobKind KIND = new JobKind("batch", "v1", "Job", "jobs", "batch/job");

  private static final String POD_SET = "main";
  private static final String INDEX_LABEL = "batch.kubernetes.io/job-completion-index";

  /**
   * Labels of the template that the API server derives from the Job itself; it refuses others. A
   * Workload may hold those of another Job: of the manager's, or of the one it was written from.
   */
  private static final List<String> OWN_LABELS =
      List.of(
          "controller-uid",
          "batch.kubernetes.io/controller-uid",
          "job-name",
          "batch.kubernetes.io/job-name");

  private static final List<String> UID_LABELS =
      OWN_LABELS.stream().filter(label -> label.endsWith("controller-uid")).toList();

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public boolean canBeElastic() {
    return true;
  }

  @Override
  public boolean creates(String kind) {
    return kind.equals(SinglePod.KIND.kind());
  }

  @Override
  public boolean orchestrates(String kind) {
    return kind.equals(KIND.kind());
  }

  /** Its controller counts a pod that its selector matches, and deletes it if it has too many. */
  @Override
  public boolean adopts(Map<String, String> labels, String uid) {
    return UID_LABELS.stream().anyMatch(key -> uid.equals(labels.get(key)));
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atCreation(new WebhookRules.Review.Parallelism());
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byStatus(managedByField(), suspendField())
            .dropping(new MultiKueueRules.Dropped(ofTheManagerAlone(), List.of()))
            .keptAfterItsEnd(List.of("spec", "ttlSecondsAfterFinished"))
            .with(
                new MultiKueueRules.StatusRules(
                    true,
                    List.of("Complete", "Failed"),
                    List.of("succeeded", "failed"),
                    List.of("active", "ready", "terminating"),
                    List.of()))
            .resizedBy(
                (local, remote) ->
                    remote.withObjectProperty("spec").put("parallelism", parallelism(local))));
  }

  /**
   * What a worker's Job doesn't get: the selector, even if a user wrote it, and the labels by which
   * it selects, since the worker's API server writes its own.
   */
  private static List<List<String>> ofTheManagerAlone() {
    List<List<String>> fields = new ArrayList<>();
    fields.add(List.of("spec", "selector"));
    fields.add(List.of("spec", "manualSelector"));
    for (String label :
        List.of(
            "controller-uid",
            "job-name",
            "batch.kubernetes.io/controller-uid",
            "batch.kubernetes.io/job-name")) {
      fields.add(List.of("metadata", "labels", label));
      fields.add(List.of("spec", "template", "metadata", "labels", label));
    }
    return fields;
  }

  @Override
  public Optional<String> podSelector(JsonNode job) {
    return Optional.of(
        "batch.kubernetes.io/job-name=" + job.path("metadata").path("name").asText());
  }

  @Override
  public JobState state(JsonNode job) {
    boolean suspended = job.path("spec").path("suspend").asBoolean();
    boolean active = job.path("status").path("active").asInt() != 0;
    boolean begun = job.path("status").has("startTime");
    return new JobState(
        suspended,
        suspended && !active && (!begun || JobConditions.isTrue(job, "Suspended")),
        job.path("metadata").path("annotations").has(KueueConstants.STOPPING),
        active,
        JobConditions.end(job, "Complete", "Failed"),
        podsReady(job),
        reclaimable(job));
  }

  @Override
  public Optional<JobState> remoteStatus(JsonNode job) {
    return RemoteStatusAnnotation.of(job)
        .map(
            status -> {
              JobState here = state(job);
              JsonNode shown = withStatus(job, status);
              return new JobState(
                  here.suspended(),
                  false,
                  here.stopUnfinished(),
                  true,
                  here.end(),
                  podsReady(shown),
                  reclaimable(shown));
            });
  }

  private static ObjectNode withStatus(JsonNode job, ObjectNode status) {
    ObjectNode shown = JsonNodeFactory.instance.objectNode();
    shown.set("spec", job.path("spec"));
    shown.set("status", status);
    return shown;
  }

  private static boolean podsReady(JsonNode job) {
    JsonNode status = job.path("status");
    int uncounted = status.path("uncountedTerminatedPods").path("succeeded").size();
    int done = status.path("succeeded").asInt() + status.path("ready").asInt() + uncounted;
    return done >= count(job);
  }

  /**
   * Of the pods counted, those that will not run any more. Pods that run or are terminating stay
   * counted, however few are left to do.
   */
  private static Map<String, Integer> reclaimable(JsonNode job) {
    int parallelism = parallelism(job);
    int done = done(job);
    if (parallelism <= 1 || done <= 0) {
      return Map.of();
    }
    int completions = job.path("spec").path("completions").asInt(parallelism);
    int remaining = Math.max(0, completions - done);
    int reclaimed = count(job) - Math.max(remaining, running(job));
    return reclaimed > 0 ? Map.of(POD_SET, reclaimed) : Map.of();
  }

  private static int running(JsonNode job) {
    JsonNode status = job.path("status");
    return status.path("active").asInt() + status.path("terminating").asInt();
  }

  private static int done(JsonNode job) {
    JsonNode status = job.path("status");
    if (!isIndexed(job)) {
      return status.path("succeeded").asInt();
    }
    int completions = job.path("spec").path("completions").asInt(parallelism(job));
    return IndexSet.parse(status.path("completedIndexes").asText(), completions)
        .union(IndexSet.parse(status.path("failedIndexes").asText(), completions))
        .size();
  }

  private static boolean isIndexed(JsonNode job) {
    return job.path("spec").path("completionMode").asText().equals("Indexed");
  }

  private static int parallelism(JsonNode job) {
    return job.path("spec").path("parallelism").asInt(1);
  }

  private static int count(JsonNode job) {
    int parallelism = parallelism(job);
    return Math.min(parallelism, job.path("spec").path("completions").asInt(parallelism));
  }

  /** The smallest parallelism; 0 where the Job, which nobody may have checked, says less. */
  private static int minCount(JsonNode job) {
    return Math.max(
        0,
        job.path("metadata").path("annotations").path(KueueConstants.JOB_MIN_PARALLELISM).asInt());
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode job) {
    ObjectNode template =
        job.path("spec").path("template") instanceof ObjectNode present
            ? present
            : JsonNodeFactory.instance.objectNode();
    return List.of(
        new PodSetTemplate(
            POD_SET,
            count(job),
            minCount(job),
            template,
            isIndexed(job)
                ? Optional.of(TopologyRequests.ranked(template, INDEX_LABEL))
                : TopologyRequests.of(template, INDEX_LABEL)));
  }

  @Override
  public List<JobPatch> start(ObjectNode job, List<PodSetInfo> starts)
      throws StartConflictException {
    PodSetInfo start = starts.getFirst();
    ObjectNode started = job.deepCopy();
    ObjectNode spec = started.withObjectProperty("spec").put("suspend", false);
    PodTemplateMerger.merge(spec.withObjectProperty("template"), start);
    if (minCount(job) > 0 && start.count() != count(job)) {
      resize(started, start.count());
    }
    List<JobPatch> patches = new ArrayList<>(withoutStartTime(job));
    patches.add(new JobPatch(false, JsonMergePatch.between(job, started)));
    return patches;
  }

  private static void resize(ObjectNode job, int count) {
    ObjectNode spec = job.withObjectProperty("spec").put("parallelism", count);
    JsonNode annotations = job.path("metadata").path("annotations");
    if (Booleans.isTrue(
        annotations.path(KueueConstants.JOB_COMPLETIONS_EQUAL_PARALLELISM).asText())) {
      spec.put("completions", count);
    }
  }

  /** A template may be changed only while its Job has no start time. */
  private static List<JobPatch> withoutStartTime(JsonNode job) {
    if (!job.path("status").hasNonNull("startTime")) {
      return List.of();
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("status").putNull("startTime");
    return List.of(new JobPatch(true, body));
  }

  @Override
  public Optional<JobPatch> nextStopStep(JsonNode job, Optional<List<PodSetTemplate>> original) {
    if (!job.path("spec").path("suspend").asBoolean()) {
      return Optional.of(suspend());
    }
    if (!state(job).stopUnfinished()) {
      return Optional.empty();
    }
    return withoutStartTime(job).stream()
        .findFirst()
        .or(() -> Optional.of(new JobPatch(false, restored(job, original))));
  }

  private static JobPatch suspend() {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("metadata").putObject("annotations").put(KueueConstants.STOPPING, "true");
    body.putObject("spec").put("suspend", true);
    return new JobPatch(false, body);
  }

  private static ObjectNode restored(JsonNode job, Optional<List<PodSetTemplate>> original) {
    ObjectNode restored = job.deepCopy();
    restored
        .withObjectProperty("metadata")
        .withObjectProperty("annotations")
        .remove(KueueConstants.STOPPING);
    if (original.isPresent() && original.get().size() == 1) {
      PodSetTemplate podSet = original.get().getFirst();
      ObjectNode spec = restored.withObjectProperty("spec");
      PodTemplateMerger.restore(spec.withObjectProperty("template"), podSet.template());
      keepOwnLabels(job, spec.withObjectProperty("template"));
      if (minCount(job) > 0 && podSet.count() != count(job)) {
        resize(restored, podSet.count());
      }
    }
    return JsonMergePatch.between(job, restored);
  }

  private static void keepOwnLabels(JsonNode job, ObjectNode template) {
    JsonNode current = job.path("spec").path("template").path("metadata").path("labels");
    if (template.at("/metadata/labels") instanceof ObjectNode labels) {
      labels.remove(OWN_LABELS);
    }
    for (String label : OWN_LABELS) {
      if (current.has(label)) {
        template.withObject("/metadata/labels").set(label, current.get(label));
      }
    }
  }

  /**
   * Indexes of an indexed Job, as its status writes them: {@code 1,3-5,7}. Kept as ranges, so that
   * memory grows with the text alone and not with the numbers in it.
   */
  static final class IndexSet {

    /** As many digits as the largest 32-bit number has, which is the most that an index can be. */
    private static final int MOST_DIGITS = 10;

    private final List<Range> ranges;

    private record Range(long first, long last) {}

    private IndexSet(List<Range> ranges) {
      this.ranges = ranges;
    }

    /**
     * Reads the written form; empty text means no index. Left out are indexes from {@code
     * completions} on, which the Job can't have, and parts that are no index and no range from a
     * lower index to a higher one.
     */
    static IndexSet parse(String text, int completions) {
      List<Range> ranges = new ArrayList<>();
      for (String part : text.split(",", -1)) {
        int dash = part.indexOf('-');
        String first = dash < 0 ? part : part.substring(0, dash);
        String last = dash < 0 ? part : part.substring(dash + 1);
        if (isNumber(first) && isNumber(last)) {
          Range range =
              new Range(Long.parseLong(first), Math.min(Long.parseLong(last), completions - 1L));
          if (range.first() <= range.last()) {
            ranges.add(range);
          }
        }
      }
      return new IndexSet(ranges);
    }

    private static boolean isNumber(String text) {
      return !text.isEmpty()
          && text.length() <= MOST_DIGITS
          && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
    }

    /** The indexes of either. */
    IndexSet union(IndexSet other) {
      List<Range> both = new ArrayList<>(ranges);
      both.addAll(other.ranges);
      return new IndexSet(both);
    }

    /** How many different indexes. */
    int size() {
      long size = 0;
      long next = 0;
      for (Range range : ranges.stream().sorted(Comparator.comparingLong(Range::first)).toList()) {
        if (range.last() >= next) {
          size += range.last() - Math.max(range.first(), next) + 1;
          next = range.last() + 1;
        }
      }
      return Math.toIntExact(size);
    }
  }
}
