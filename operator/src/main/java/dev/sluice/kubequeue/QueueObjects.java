package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.config.KubeQueue.Policy;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueOverrides.QueueOverride;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Queues of Kube Queue: how one that shows a quota is written, and the words in which they say how
 * a queue is served. Pure.
 */
final class QueueObjects {

  /** The labels of a Queue that shows a quota. */
  static final Map<String, String> LABELS =
      Map.of(QueueUnits.MIRROR, "true", "create-by-kubequeue", "true");

  /** The annotation that says which quota a Queue shows. */
  static final String FULL_NAME = "kube-queue/quota-fullname";

  /** What Kube Queue says of a Queue of an ElasticQuota that says nothing of itself. */
  private static final int PRIORITY_OF_QUOTAS = 1000;

  /** The field that names admission checks; it is people's. */
  static final String CHECKS = "admissionChecks";

  private static final String INTELLIGENT = "Intelligent";

  private QueueObjects() {}

  /** The name of a policy. */
  static String text(Policy policy) {
    return switch (policy) {
      case ROUND -> "Round";
      case BLOCK -> "Block";
      case STRICT_PRIORITY -> "Priority";
    };
  }

  /**
   * The policy of this name; empty if there is none. Priority means what it means to the product
   * that reads the source: the order of attempts with ElasticQuotas, else the same as Round.
   */
  static Optional<Policy> policy(String text, String sourceKind) {
    return switch (text) {
      case "Round" -> Optional.of(Policy.ROUND);
      case "Block" -> Optional.of(Policy.BLOCK);
      case "Priority" ->
          Optional.of(isElasticQuota(sourceKind) ? Policy.STRICT_PRIORITY : Policy.ROUND);
      case INTELLIGENT -> Optional.of(Policy.STRICT_PRIORITY);
      default -> Optional.empty();
    };
  }

  /** Whether a policy is replaced by one that comes close. */
  static boolean isReplaced(String policy) {
    return policy.equals(INTELLIGENT);
  }

  static boolean isElasticQuota(String sourceKind) {
    return sourceKind.equals(ElasticQuotaReader.KOORDINATOR)
        || sourceKind.equals(ElasticQuotaReader.PLUGIN);
  }

  /** The priority of a Queue that nobody gave one. */
  static Optional<Integer> defaultPriority(String sourceKind) {
    return isElasticQuota(sourceKind) ? Optional.of(PRIORITY_OF_QUOTAS) : Optional.empty();
  }

  /** How a Queue notes its configured policy; one that says another policy was edited. */
  static String shown(String policy) {
    return "policy=" + policy;
  }

  /** The Queue that shows a quota. */
  static PlannedObject manifest(
      ObjectId id, SourceMark mark, Policy configured, QueueOverride override) {
    SortedMap<String, String> annotations = new TreeMap<>(mark.annotations());
    annotations.put(FULL_NAME, mark.path());
    annotations.put(QueueUnits.SHOWN, shown(text(configured)));
    ObjectNode spec = JsonNodeFactory.instance.objectNode();
    spec.put(
        "queuePolicy", override.policyText().isEmpty() ? text(configured) : override.policyText());
    override
        .priority()
        .or(() -> defaultPriority(mark.kind()))
        .ifPresent(priority -> spec.put("priority", priority));
    return new PlannedObject(id, annotations, spec);
  }

  /**
   * A Queue that is made in the place of one in another namespace: with what people wrote there.
   */
  static PlannedObject moved(PlannedObject planned, ExistingObject old) {
    Map<String, String> annotations = new TreeMap<>(old.annotations());
    annotations.keySet().removeIf(key -> !KubeQueueKeys.isOfKubeQueue(key));
    annotations.putAll(planned.annotations());
    ObjectNode spec = planned.spec().deepCopy();
    JsonNode checks = old.spec().path(CHECKS);
    if (!checks.isEmpty()) {
      spec.set(CHECKS, checks.deepCopy());
    }
    return new PlannedObject(planned.id(), annotations, spec);
  }

  /**
   * An object as it is.
   *
   * @param id which object
   * @param uid its UID
   * @param annotations all of its annotations
   * @param spec its spec, with defaults
   * @param inUse whether Workloads need it: of a ClusterQueue, those that hold its quota; of a
   *     LocalQueue, all that have not finished
   * @param leaving whether it is being deleted
   */
  public record ExistingObject(
      ObjectId id,
      String uid,
      Map<String, String> annotations,
      JsonNode spec,
      boolean inUse,
      boolean leaving) {

    /** From which quota it was made; empty if it wasn't. */
    Optional<SourceMark> mark() {
      return SourceMark.of(annotations);
    }
  }

  /** A kind of objects that are made from quotas; in the order in which they are made. */
  public enum ObjectKind {
    /** What all quotas are of. */
    FLAVOR("ResourceFlavor", "resourceflavors"),
    /** A quota that others share. */
    COHORT("Cohort", "cohorts"),
    /** A quota that jobs use. */
    CLUSTER_QUEUE("ClusterQueue", "clusterqueues"),
    /** The way of a namespace to a quota. */
    LOCAL_QUEUE("LocalQueue", "localqueues"),
    /** What shows a quota in the way of Kube Queue. */
    QUEUE("Queue", "queues", QueueUnits.GROUP + "/" + QueueUnits.VERSION);

    private final String kind;
    private final String plural;
    private final String apiVersion;

    ObjectKind(String kind, String plural) {
      this(kind, plural, ApiVersions.GROUP + "/" + ApiVersions.V1BETA2);
    }

    ObjectKind(String kind, String plural, String apiVersion) {
      this.kind = kind;
      this.plural = plural;
      this.apiVersion = apiVersion;
    }

    /** The name of the kind. */
    public String kind() {
      return kind;
    }

    /** The API version in which objects are written. */
    public String apiVersion() {
      return apiVersion;
    }

    /** The plural by which the API server knows the kind. */
    public String plural() {
      return plural;
    }
  }
}
