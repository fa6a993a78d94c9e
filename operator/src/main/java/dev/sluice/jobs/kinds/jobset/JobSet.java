package dev.sluice.jobs.kinds.jobset;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.TemplatedJob;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** JobSets: a pod set per replicated job. The Jobs that a JobSet creates are left alone. */
public final class JobSet extends TemplatedJob {

  /** The kind. */
  public static final JobKind KIND = JobKind.of("jobset.x-k8s.io", "v1alpha2", "JobSet");

  private static final String CONTROLLER = "jobset.sigs.k8s.io/jobset-controller";
  private static final String INDEX_LABEL = "batch.kubernetes.io/job-completion-index";
  private static final String JOB_INDEX_LABEL = "jobset.sigs.k8s.io/job-index";

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
            .keptAfterItsEnd(List.of("spec", "ttlSecondsAfterFinished"))
            .withPodFields("replicatedJobsStatus"));
  }

  @Override
  protected List<PodSetSlot> slots(JsonNode object) {
    List<PodSetSlot> slots = new ArrayList<>();
    List<JsonNode> jobs = replicatedJobs(object);
    for (int i = 0; i < jobs.size(); i++) {
      JsonNode job = jobs.get(i);
      slots.add(
          PodSetSlot.of(
              object,
              podSet(job),
              (long) replicas(job) * podsPerJob(job),
              "/spec/replicatedJobs/" + i + "/template/spec/template",
              new Index(INDEX_LABEL, JOB_INDEX_LABEL, replicas(job))));
    }
    return slots;
  }

  private static List<JsonNode> replicatedJobs(JsonNode object) {
    return JsonFields.list(object, "spec", "replicatedJobs");
  }

  private static String podSet(JsonNode job) {
    return job.path("name").asText().toLowerCase(Locale.ROOT);
  }

  private static int replicas(JsonNode job) {
    return Math.max(0, job.path("replicas").asInt(1));
  }

  private static int podsPerJob(JsonNode job) {
    JsonNode spec = job.path("template").path("spec");
    int parallelism = spec.path("parallelism").asInt(1);
    return Math.max(0, Math.min(parallelism, spec.path("completions").asInt(parallelism)));
  }

  /** What the status says of the replicated jobs, by name. */
  private static Map<String, JsonNode> statuses(JsonNode object) {
    Map<String, JsonNode> statuses = new HashMap<>();
    for (JsonNode status : JsonFields.list(object, "status", "replicatedJobsStatus")) {
      statuses.putIfAbsent(status.path("name").asText(), status);
    }
    return statuses;
  }

  /** What the status says of a replicated job; a missing node if it says nothing. */
  private static JsonNode status(Map<String, JsonNode> statuses, JsonNode job) {
    return statuses.getOrDefault(job.path("name").asText(), MissingNode.getInstance());
  }

  @Override
  protected boolean active(JsonNode object) {
    return JsonFields.list(object, "status", "replicatedJobsStatus").stream()
        .anyMatch(status -> status.path("active").asInt() > 0);
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    long wanted = 0;
    long ready = 0;
    Map<String, JsonNode> statuses = statuses(object);
    for (JsonNode job : replicatedJobs(object)) {
      JsonNode status = status(statuses, job);
      wanted += replicas(job);
      ready += (long) status.path("ready").asInt() + status.path("succeeded").asInt();
    }
    return ready == wanted;
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    return JobConditions.end(object, "Completed", "Failed");
  }

  @Override
  protected Map<String, Integer> reclaimable(JsonNode object) {
    Map<String, Integer> reclaimable = new LinkedHashMap<>();
    Map<String, JsonNode> statuses = statuses(object);
    for (JsonNode job : replicatedJobs(object)) {
      int succeeded = Math.min(status(statuses, job).path("succeeded").asInt(), replicas(job));
      long pods = Math.min((long) succeeded * podsPerJob(job), Integer.MAX_VALUE);
      if (pods > 0) {
        reclaimable.put(podSet(job), (int) pods);
      }
    }
    return reclaimable;
  }
}
