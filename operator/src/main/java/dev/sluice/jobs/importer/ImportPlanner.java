package dev.sluice.jobs.importer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.controller.CachedJobParser;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.PriorityLookup;
import dev.sluice.jobs.policy.PrioritySource;
import dev.sluice.jobs.policy.WorkloadFactory;
import dev.sluice.workload.feed.AdmittedRequests;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Decides about each object that an import meets. Pure. */
public final class ImportPlanner {

  private static final String REASON = "Imported";

  private final ImportRules rules;
  private final ImportQueues queues;
  private final PriorityLookup priorities;
  private final Map<String, String> moreLabels;
  private final AdmittedRequests requests;
  private final WorkloadFactory factory = new WorkloadFactory(JobOptions.defaults(""));

  /**
   * Creates a planner.
   *
   * @param moreLabels labels that objects and Workloads get
   * @param excludedPrefixes resources with one of these prefixes take no quota
   */
  public ImportPlanner(
      ImportRules rules,
      ImportQueues queues,
      PriorityLookup priorities,
      Map<String, String> moreLabels,
      List<String> excludedPrefixes) {
    this.rules = rules;
    this.queues = queues;
    this.priorities = priorities;
    this.moreLabels = Map.copyOf(moreLabels);
    this.requests = new AdmittedRequests(excludedPrefixes, List.of(), false, Map.of());
  }

  /**
   * Decides about an object.
   *
   * @param kind its kind
   * @param object as the API server has it
   * @param owners UIDs of the objects that have a Workload already
   * @param nodeLabels labels of the node that it runs on; empty if none is known
   */
  public ImportDecision decide(
      JobIntegration kind,
      JsonNode object,
      Set<String> owners,
      Optional<Map<String, String>> nodeLabels,
      Instant now) {
    CachedJob job = CachedJobParser.of(kind, object);
    Optional<String> left = left(job, owners);
    if (left.isPresent()) {
      return new ImportDecision.Leave(left.get());
    }
    String priorityClass =
        job.podSets().stream().map(CachedJob.PodSet::priorityClassName).findFirst().orElse("");
    Optional<ImportRule> rule = rules.of(job.labels(), priorityClass);
    String queue =
        job.queueName().isEmpty() ? rule.map(ImportRule::localQueue).orElse("") : job.queueName();
    if (rule.filter(ImportRule::skip).isPresent()) {
      return new ImportDecision.Leave("a rule leaves it out");
    }
    if (queue.isEmpty()) {
      return new ImportDecision.Fault("no rule names a queue for it");
    }
    String clusterQueue = queues.localQueues().get(new ObjectKey(job.ref().namespace(), queue));
    if (clusterQueue == null) {
      return new ImportDecision.Fault("LocalQueue " + queue + " does not exist");
    }
    return switch (PrioritySource.of(job, priorities)) {
      case PrioritySource.Missing missing ->
          new ImportDecision.Fault(missing.kind() + " " + missing.name() + " does not exist");
      case PrioritySource.Found found -> {
        List<PodSetTemplate> podSets = kind.podSets(object);
        ObjectNode workload = workload(job, podSets, found, queue);
        yield take(podSets, workload, patch(kind, object, queue), clusterQueue, nodeLabels, now);
      }
    };
  }

  private static Optional<String> left(CachedJob job, Set<String> owners) {
    if (owners.contains(job.ref().uid())) {
      return Optional.of("it has a Workload");
    }
    if (job.state().end().isPresent()) {
      return Optional.of("it has ended");
    }
    if (job.deletionTime().isPresent()) {
      return Optional.of("it is being deleted");
    }
    if (job.controller().isPresent()) {
      return Optional.of(
          "it belongs to " + job.controller().get().kind() + " " + job.controller().get().name());
    }
    return job.state().suspended()
        ? Optional.of("it doesn't run; the operator queues it if it names a queue")
        : Optional.empty();
  }

  private ObjectNode workload(
      CachedJob job, List<PodSetTemplate> podSets, PrioritySource.Found priority, String queue) {
    ObjectNode workload = factory.compose(job, podSets, priority);
    workload.withObjectProperty("spec").put("queueName", queue);
    ObjectNode labels = workload.withObjectProperty("metadata").withObjectProperty("labels");
    moreLabels.forEach(labels::put);
    return workload;
  }

  /** Takes an object with the Workload and the patch that are made for it. */
  private ImportDecision take(
      List<PodSetTemplate> podSets,
      ObjectNode workload,
      ObjectNode patch,
      String clusterQueue,
      Optional<Map<String, String>> nodeLabels,
      Instant now) {
    SortedMap<String, Long> amounts = new TreeMap<>();
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ArrayNode assignments =
        status
            .putObject("admission")
            .put("clusterQueue", clusterQueue)
            .putArray("podSetAssignments");
    try {
      for (PodSetTemplate podSet : podSets) {
        SortedMap<String, Long> perPod = requests.of(podSet.template());
        perPod.values().removeIf(amount -> amount == 0);
        Map<String, String> flavors =
            queues.flavors(
                clusterQueue,
                perPod,
                nodeLabels.orElseGet(
                    () -> JsonFields.map(podSet.template(), "spec", "nodeSelector")));
        assign(assignments.addObject(), podSet, perPod, flavors, amounts);
      }
    } catch (ImportQueues.UnassignedException e) {
      return new ImportDecision.Fault(String.valueOf(e.getMessage()));
    }
    ArrayNode conditions = status.putArray("conditions");
    condition(conditions, "QuotaReserved", clusterQueue, now);
    condition(conditions, "Admitted", clusterQueue, now);
    return new ImportDecision.Take(clusterQueue, workload, status, patch, amounts);
  }

  private static void assign(
      ObjectNode assignment,
      PodSetTemplate podSet,
      SortedMap<String, Long> perPod,
      Map<String, String> flavors,
      SortedMap<String, Long> amounts) {
    assignment.put("name", podSet.name()).put("count", podSet.count());
    ObjectNode chosen = assignment.putObject("flavors");
    ObjectNode usage = assignment.putObject("resourceUsage");
    perPod.forEach(
        (resource, amount) -> {
          long all = saturated(amount, podSet.count());
          chosen.put(resource, flavors.get(resource));
          usage.put(resource, Quantities.format(resource, all));
          amounts.merge(flavors.get(resource) + "/" + resource, all, ImportPlanner::sum);
        });
  }

  private static long saturated(long amount, int count) {
    return amount > Long.MAX_VALUE / Math.max(1, count) ? Long.MAX_VALUE : amount * count;
  }

  static long sum(long one, long other) {
    long sum = one + other;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  private static void condition(
      ArrayNode conditions, String type, String clusterQueue, Instant now) {
    conditions
        .addObject()
        .put("type", type)
        .put("status", "True")
        .put("reason", REASON)
        .put("message", "Imported into ClusterQueue " + clusterQueue)
        .put("observedGeneration", 1)
        .put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString());
  }

  /** Pods get what the webhook of pods would have given them, except for the gates. */
  private ObjectNode patch(JobIntegration kind, JsonNode object, String queue) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode metadata = patch.putObject("metadata");
    metadata.set("resourceVersion", object.path("metadata").path("resourceVersion"));
    ObjectNode labels = metadata.putObject("labels").put(KueueConstants.QUEUE_NAME, queue);
    moreLabels.forEach(labels::put);
    if (kind.kind().equals(SinglePod.KIND)) {
      labels.put(KueueConstants.MANAGED, "true");
      ArrayNode finalizers = metadata.putArray("finalizers");
      JsonFields.texts(object, "metadata", "finalizers").forEach(finalizers::add);
      if (!JsonFields.texts(object, "metadata", "finalizers").contains(KueueConstants.MANAGED)) {
        finalizers.add(KueueConstants.MANAGED);
      }
    }
    return patch;
  }
}
