package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.QueueNames;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Warns the creator of a job about annotations without effect, because their feature is disabled or
 * not supported, or because of the queue, about misspelled queue labels, about a queue that doesn't
 * exist or that label and annotation disagree about, and about a priority class that doesn't exist.
 */
public final class JobWarnings {

  private static final Map<String, FeatureGate> ON_JOB =
      Map.of(
          KueueConstants.ELASTIC_JOB, FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES,
          KueueConstants.ADMISSION_GATED_BY, FeatureGate.ADMISSION_GATED_BY,
          KueueConstants.WAS_POD_GROUP, FeatureGate.WAS_POD_GROUPS,
          KueueConstants.JOB_MIN_PARALLELISM, FeatureGate.PARTIAL_ADMISSION);

  private static final List<String> ON_TEMPLATE =
      List.of(
          KueueConstants.PODSET_REQUIRED_TOPOLOGY,
          KueueConstants.PODSET_PREFERRED_TOPOLOGY,
          KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY,
          KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY,
          KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS,
          KueueConstants.PODSET_GROUP_NAME);

  /** The most names of queues that a warning has. */
  private static final int MOST_QUEUES = 10;

  /** The most characters of a name that a warning has; longer ones are no names. */
  private static final int MAX_SHOWN = 64;

  private final WebhookSettings settings;
  private final ClusterLookup cluster;

  /** Warns by the feature gates of {@code settings} and the queues of {@code cluster}. */
  public JobWarnings(WebhookSettings settings, ClusterLookup cluster) {
    this.settings = settings;
    this.cluster = cluster;
  }

  /**
   * One warning per annotation without effect, per label that looks like the queue's, and for the
   * queue; only at creation.
   */
  public List<String> of(AdmissionRequest request) {
    if (!request.isCreate()) {
      return List.of();
    }
    List<String> notices = new ArrayList<>(MisnamedQueueLabels.warnings(request.object()));
    JsonNode object = request.object();
    addQueue(request, notices);
    noWait(request)
        .ifPresent(
            why ->
                notices.add("annotation " + CostAnnotations.MAX_DELAY + " has no effect: " + why));
    ON_JOB.forEach((key, gate) -> add(JsonFields.annotations(object), key, gate, notices));
    Map<String, String> template =
        JsonFields.annotations(JsonFields.at(object, "spec", "template"));
    for (String key : ON_TEMPLATE) {
      add(template, key, FeatureGate.TOPOLOGY_AWARE_SCHEDULING, notices);
    }
    return notices.stream().sorted().toList();
  }

  private void addQueue(AdmissionRequest request, List<String> notices) {
    Map<String, String> labels = JsonFields.labels(request.object());
    Map<String, String> annotations = JsonFields.annotations(request.object());
    String labelled = labels.getOrDefault(KueueConstants.QUEUE_NAME, "");
    String annotated = annotations.getOrDefault(KueueConstants.QUEUE_NAME, "");
    if (!labelled.isEmpty() && !annotated.isEmpty() && !labelled.equals(annotated)) {
      notices.add(
          "the label %s names queue %s, the annotation names %s: the label counts"
              .formatted(KueueConstants.QUEUE_NAME, shown(labelled), shown(annotated)));
    }
    Optional<String> queue = QueueNames.of(labels, annotations);
    queue.ifPresent(
        name ->
            cluster
                .localQueuesWithout(request.namespace(), name)
                .ifPresent(known -> notices.add(missing(request.namespace(), name, known))));
    String priorityClass = labels.getOrDefault(KueueConstants.PRIORITY_CLASS, "");
    if (queue.isPresent() && !priorityClass.isEmpty()) {
      cluster
          .priorityClassesWithout(priorityClass)
          .ifPresent(known -> notices.add(missingClass(priorityClass, known)));
    }
  }

  /** Why a job that asks for that doesn't wait for a cheaper flavor; empty if it may. */
  private Optional<String> noWait(AdmissionRequest request) {
    Map<String, String> labels = JsonFields.labels(request.object());
    Map<String, String> annotations = JsonFields.annotations(request.object());
    if (CostAnnotations.maxDelay(annotations).filter(Duration::isPositive).isEmpty()) {
      return Optional.empty();
    }
    if (annotations.containsKey(KueueConstants.JOB_MIN_PARALLELISM)
        && settings.working().contains(FeatureGate.PARTIAL_ADMISSION)) {
      return Optional.of(
          "with annotation "
              + KueueConstants.JOB_MIN_PARALLELISM
              + " it starts with fewer pods instead");
    }
    return QueueNames.of(labels, annotations)
        .flatMap(queue -> cluster.noWaitForCheaper(request.namespace(), queue, labels));
  }

  private static String missing(String namespace, String queue, Set<String> known) {
    return "namespace %s has no LocalQueue %s yet, so the job waits until there is one; %s"
        .formatted(
            namespace,
            shown(queue),
            known.isEmpty() ? "it has no LocalQueue at all" : "it has: " + names(known));
  }

  private static String missingClass(String name, Set<String> known) {
    return "there is no WorkloadPriorityClass %s yet, so the job waits until there is one; %s"
        .formatted(
            shown(name),
            known.isEmpty() ? "there is no WorkloadPriorityClass" : "there are: " + names(known));
  }

  private static String names(Set<String> known) {
    return known.stream().sorted().limit(MOST_QUEUES).collect(Collectors.joining(", "))
        + (known.size() > MOST_QUEUES ? ", …" : "");
  }

  private static String shown(String name) {
    return TextLimits.shown(name, MAX_SHOWN);
  }

  private void add(Map<String, String> given, String key, FeatureGate gate, List<String> notices) {
    if (given.containsKey(key) && !settings.working().contains(gate)) {
      notices.add(
          "annotation " + key + " has no effect: feature " + gate.text() + " is off or not there");
    }
  }

  /** Finds labels that look as if they were to name a queue, and don't. */
  public static final class MisnamedQueueLabels {

    /** Keys without a prefix that look like the label. */
    public static final List<String> WITHOUT_PREFIX =
        List.of("queue-name", "queue_name", "queuename");

    private static final String PREFIX = KueueConstants.GROUP + "/";
    private static final Set<String> LOOKS = Set.of("queuename", "queue", "localqueue");

    private MisnamedQueueLabels() {}

    /** A warning for each such label of an object that names no queue. */
    public static List<String> warnings(JsonNode object) {
      Set<String> labels = new TreeSet<>(JsonFields.labels(object).keySet());
      if (labels.contains(KueueConstants.QUEUE_NAME)
          || JsonFields.annotations(object).containsKey(KueueConstants.QUEUE_NAME)) {
        return List.of();
      }
      return labels.stream()
          .filter(MisnamedQueueLabels::looksLikeQueueName)
          .map(
              label ->
                  "label %s names no queue, the job is not queued: the label is %s"
                      .formatted(label, KueueConstants.QUEUE_NAME))
          .toList();
    }

    private static boolean looksLikeQueueName(String label) {
      return WITHOUT_PREFIX.contains(label)
          || (label.startsWith(PREFIX)
              && LOOKS.contains(
                  label
                      .substring(PREFIX.length())
                      .toLowerCase(Locale.ROOT)
                      .replaceAll("[-_.]", "")));
    }
  }
}
