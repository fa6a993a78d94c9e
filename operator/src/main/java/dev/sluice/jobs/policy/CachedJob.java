package dev.sluice.jobs.policy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.QueueNames;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.MapCopies;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.PodTemplateHash;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is kept of a job: all that its Workload, its start and its stop are decided by.
 *
 * @param ref which
 * @param version its resourceVersion as a number
 * @param createdAt when it was created
 * @param deletionTime when its deletion is due, if it is being deleted; a grace period lies before
 * @param controller the object that controls it, if there is one
 * @param finalizers its finalizers
 * @param labels its labels
 * @param annotations its annotations, without those of kubectl
 * @param state its state, by its own status alone
 * @param remoteStatus its state in another cluster, as its annotations report it; unproven. Empty
 *     without such a report
 * @param podSets its pod sets
 * @param priorityClass the priority class that the kind itself names; empty when it names none
 * @param text the object as JSON, without managed fields; empty unless it is suspended and has not
 *     ended, since only then is it composed from or started, or its kind refers to other objects
 */
public record CachedJob(
    JobRef ref,
    long version,
    Instant createdAt,
    Optional<Instant> deletionTime,
    Optional<Controller> controller,
    List<String> finalizers,
    Map<String, String> labels,
    Map<String, String> annotations,
    JobState state,
    Optional<JobState> remoteStatus,
    List<PodSet> podSets,
    String priorityClass,
    String text) {

  private static final Pattern GENERATION = Pattern.compile("\"generation\":([0-9]{1,18})");

  public CachedJob {
    finalizers = List.copyOf(finalizers);
    labels = MapCopies.of(labels);
    annotations = MapCopies.of(annotations);
    podSets = List.copyOf(podSets);
  }

  /** The same job in another state. */
  public CachedJob withState(JobState other) {
    return changed(labels, annotations, other, Optional.empty(), podSets);
  }

  /** The same job with other pod sets. */
  CachedJob withPodSets(List<PodSet> others) {
    return changed(labels, annotations, state, remoteStatus, others);
  }

  /** The same job, as if it named the queue and the priority class that a Workload uses. */
  CachedJob using(CachedWorkload workload) {
    Map<String, String> otherLabels = new HashMap<>(labels);
    Map<String, String> otherAnnotations = new HashMap<>(annotations);
    otherAnnotations.remove(KueueConstants.QUEUE_NAME);
    otherLabels.put(KueueConstants.QUEUE_NAME, workload.spec().queueName());
    otherLabels.put(KueueConstants.PRIORITY_CLASS, UnjudgedUse.priorityClass(workload));
    otherLabels.values().removeIf(String::isEmpty);
    return changed(otherLabels, otherAnnotations, state, remoteStatus, podSets);
  }

  /**
   * The same job without the annotation that names a prebuilt Workload, where a label could say the
   * same: a name of more than 63 characters fits into an annotation only.
   */
  public CachedJob namedByLabel() {
    String name = annotations.getOrDefault(KueueConstants.PREBUILT_WORKLOAD_NAME, "");
    if (name.isEmpty() || name.length() > WorkloadNames.SHORT) {
      return this;
    }
    Map<String, String> others = new HashMap<>(annotations);
    others.remove(KueueConstants.PREBUILT_WORKLOAD_NAME);
    return changed(labels, others, state, remoteStatus, podSets);
  }

  private CachedJob changed(
      Map<String, String> itsLabels,
      Map<String, String> itsAnnotations,
      JobState itsState,
      Optional<JobState> itsRemoteStatus,
      List<PodSet> itsPodSets) {
    return new CachedJob(
        ref,
        version,
        createdAt,
        deletionTime,
        controller,
        finalizers,
        itsLabels,
        itsAnnotations,
        itsState,
        itsRemoteStatus,
        itsPodSets,
        priorityClass,
        text);
  }

  /** A controlling owner. */
  public record Controller(String apiVersion, String kind, String name, String uid) {

    /** The owner of a Workload. */
    public static Controller of(CachedWorkload.Owner owner) {
      return new Controller(owner.apiVersion(), owner.kind(), owner.name(), owner.uid());
    }
  }

  /**
   * A pod set without its template.
   *
   * @param minCount with how few pods it may start; 0 when it must be all
   * @param priorityClassName the core PriorityClass of its pods; empty when they have none
   */
  public record PodSet(
      String name, int count, int minCount, PodTemplateHash fingerprint, String priorityClassName) {

    /** The same pod set with another number of pods. */
    PodSet withCount(int pods) {
      return new PodSet(name, pods, minCount, fingerprint, priorityClassName);
    }
  }

  /** Its generation, read from its text; 1 if that doesn't say. */
  public long generation() {
    Matcher generation = GENERATION.matcher(text);
    return generation.find() ? Long.parseLong(generation.group(1)) : 1;
  }

  /** Whether an annotation says that its size may change while it runs. */
  public boolean isElastic() {
    return "true".equals(annotations.get(KueueConstants.ELASTIC_JOB));
  }

  /** The object as it is at the API server, without managed fields; empty if none was kept. */
  public ObjectNode object() {
    try {
      return JsonFields.object(JsonMappers.JSON.readTree(text));
    } catch (JsonProcessingException ownText) {
      throw new IllegalStateException("the text of " + ref + " is not JSON", ownText);
    }
  }

  /** Whether it has a deletion timestamp. */
  public boolean deleting() {
    return deletionTime.isPresent();
  }

  /** The LocalQueue it names; empty when it names none. */
  public String queueName() {
    return QueueNames.of(labels, annotations).orElse("");
  }

  /** The WorkloadPriorityClass it names; empty when it names none. */
  public String workloadPriorityClass() {
    return labels.getOrDefault(KueueConstants.PRIORITY_CLASS, "");
  }

  /** The Workload that was made for it by somebody else; empty when there is none. */
  public String prebuiltWorkload() {
    String annotation = annotations.getOrDefault(KueueConstants.PREBUILT_WORKLOAD_NAME, "");
    return annotation.isEmpty()
        ? labels.getOrDefault(KueueConstants.PREBUILT_WORKLOAD_NAME, "")
        : annotation;
  }

  /** Whether it names this Workload as the one that was made for it. */
  boolean names(CachedWorkload workload) {
    return workload.id().name().equals(prebuiltWorkload());
  }

  /** How many seconds it may run; 0 when there is no limit, or none that is a positive integer. */
  public int maximumExecutionTimeSeconds() {
    String seconds = labels.getOrDefault(KueueConstants.MAX_EXEC_TIME_SECONDS, "");
    try {
      return seconds.isEmpty() ? 0 : Math.max(0, Integer.parseInt(seconds));
    } catch (NumberFormatException notANumber) {
      return 0;
    }
  }

  /**
   * What jobs may use of LocalQueues and WorkloadPriorityClasses where no webhook judges who makes
   * and changes them: what is for everybody
   * (docs/queueing-policies.md#who-may-use-a-queue-or-a-class).
   */
  @FunctionalInterface
  public interface UnjudgedUse {

    /** Jobs may use everything: somebody judges all of them. */
    UnjudgedUse ANY = (job, queue, priorityClass) -> Optional.empty();

    /**
     * Why a job may not use what it names; empty if it may, or if somebody judged it.
     *
     * @param queue the name of a LocalQueue in the job's namespace; empty: none
     * @param priorityClass the name of a WorkloadPriorityClass; empty: none
     */
    Optional<String> refusal(JobRef job, String queue, String priorityClass);

    /**
     * Why a job may not use what it names, or what the Workload uses that it names. What its own
     * Workload uses already, it may.
     */
    default Optional<String> refusal(ReconcileContext context) {
      CachedJob job = context.job();
      boolean known =
          present(context)
              .filter(own -> own.spec().queueName().equals(job.queueName()))
              .filter(own -> priorityClass(own).equals(job.workloadPriorityClass()))
              .isPresent();
      Optional<String> ofJob =
          known
              ? Optional.empty()
              : refusal(job.ref(), job.queueName(), job.workloadPriorityClass());
      return ofJob.or(
          () ->
              context
                  .prebuilt()
                  .filter(
                      other ->
                          other
                              .owner()
                              .filter(owner -> owner.uid().equals(job.ref().uid()))
                              .isEmpty())
                  .flatMap(
                      other -> refusal(job.ref(), other.spec().queueName(), priorityClass(other))));
    }

    /** The Workload that a job has, and that has not ended. */
    static Optional<CachedWorkload> present(ReconcileContext context) {
      return context.owned().stream()
          .filter(workload -> !workload.finished() && !workload.deleting())
          .findFirst();
    }

    /** The WorkloadPriorityClass of a Workload; empty if its priority is of none. */
    static String priorityClass(CachedWorkload workload) {
      return workload
          .spec()
          .priorityClass()
          .filter(ref -> ref.kind().equals("WorkloadPriorityClass"))
          .map(CachedWorkload.PriorityClassRef::name)
          .orElse("");
    }
  }

  /** Reads what is kept of a job from the object's JSON. */
  public static final class CachedJobParser {

    private static final String KUBECTL = "kubectl.kubernetes.io/last-applied-configuration";

    private CachedJobParser() {}

    /** The view of an object of the adapter's kind. */
    public static CachedJob of(JobIntegration integration, JsonNode object) {
      JsonNode metadata = object.path("metadata");
      JobState state = integration.state(object);
      boolean mayStart = (state.suspended() || state.handling().held()) && state.end().isEmpty();
      return new CachedJob(
          ref(integration.kind(), metadata),
          metadata.path("resourceVersion").asLong(),
          instant(metadata.path("creationTimestamp")),
          deletionTime(metadata),
          controller(metadata),
          finalizers(metadata),
          strings(metadata.path("labels")),
          annotations(metadata),
          state,
          integration.remoteStatus(object),
          podSets(integration, object),
          integration.priorityClass(object),
          mayStart || isElastic(metadata) || integration.reference(object).isPresent()
              ? text(object)
              : "");
    }

    /** The generation of an elastic job is part of the names of its slices. */
    private static boolean isElastic(JsonNode metadata) {
      return metadata.path("annotations").path(KueueConstants.ELASTIC_JOB).asText().equals("true");
    }

    private static JobRef ref(JobKind kind, JsonNode metadata) {
      return new JobRef(
          kind,
          metadata.path("namespace").asText(),
          metadata.path("name").asText(),
          metadata.path("uid").asText());
    }

    private static Instant instant(JsonNode time) {
      return time.isTextual() ? Instant.parse(time.asText()) : Instant.EPOCH;
    }

    private static Optional<Instant> deletionTime(JsonNode metadata) {
      return metadata.hasNonNull("deletionTimestamp")
          ? Optional.of(instant(metadata.path("deletionTimestamp")))
          : Optional.empty();
    }

    private static List<String> finalizers(JsonNode metadata) {
      List<String> result = new ArrayList<>();
      metadata.path("finalizers").forEach(name -> result.add(name.asText()));
      return result;
    }

    /** The controlling owner that metadata names; empty if they name none. */
    public static Optional<CachedJob.Controller> controller(JsonNode metadata) {
      for (JsonNode owner : metadata.path("ownerReferences")) {
        if (owner.path("controller").asBoolean()) {
          return Optional.of(
              new CachedJob.Controller(
                  owner.path("apiVersion").asText(),
                  owner.path("kind").asText(),
                  owner.path("name").asText(),
                  owner.path("uid").asText()));
        }
      }
      return Optional.empty();
    }

    private static Map<String, String> annotations(JsonNode metadata) {
      Map<String, String> annotations = strings(metadata.path("annotations"));
      annotations.remove(KUBECTL);
      return annotations;
    }

    private static Map<String, String> strings(JsonNode map) {
      Map<String, String> result = new LinkedHashMap<>();
      map.properties().forEach(entry -> result.put(entry.getKey(), entry.getValue().asText()));
      return result;
    }

    private static List<CachedJob.PodSet> podSets(JobIntegration integration, JsonNode object) {
      List<CachedJob.PodSet> result = new ArrayList<>();
      Map<JsonNode, PodTemplateHash> hashes = new IdentityHashMap<>();
      for (PodSetTemplate podSet : integration.podSets(object)) {
        JsonNode spec = podSet.template().path("spec");
        result.add(
            new CachedJob.PodSet(
                podSet.name(),
                podSet.count(),
                podSet.minCount(),
                hashes.computeIfAbsent(spec, PodTemplateHash::of),
                spec.path("priorityClassName").asText()));
      }
      return result;
    }

    private static String text(JsonNode object) {
      ObjectNode copy = object.deepCopy();
      if (copy.get("metadata") instanceof ObjectNode metadata) {
        metadata.remove("managedFields");
        if (metadata.get("annotations") instanceof ObjectNode annotations) {
          annotations.remove(KUBECTL);
        }
      }
      return copy.toString();
    }
  }
}
