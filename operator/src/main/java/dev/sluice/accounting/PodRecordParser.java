package dev.sluice.accounting;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.kube.json.WeakInterner;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.PodTemplate.Container;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import dev.sluice.workload.record.PodTemplateParser;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Makes records of pods. Total: whatever a pod says, the result is a record. Values that many pods
 * have in common are shared. Usable from any thread.
 */
public final class PodRecordParser {

  /** The grace period of a pod that names none. */
  private static final long DEFAULT_GRACE_SECONDS = 30;

  /** The API server can't tell times after the year 9999. */
  private static final long LONGEST_GRACE_SECONDS = 10_000L * 366 * 24 * 3_600;

  private static final String ALLOCATED = "allocatedResources";

  /** The least shares of a processor, as which a kubelet reports whatever is less. */
  private static final long LEAST_CPU = 2;

  /** Why a resize is never done. */
  private static final String INFEASIBLE = "Infeasible";

  /** The longest name of an object; UIDs, kinds and versions of real objects are shorter. */
  static final int LONGEST_NAME = 253;

  /** The label by which the Job controller tells its pods. */
  private static final String JOB_UID = "batch.kubernetes.io/controller-uid";

  /** What the container of a placeholder may say: nothing that makes its image do anything. */
  private static final Set<String> PLACEHOLDER_FIELDS =
      Set.of(
          "image",
          "imagePullPolicy",
          "name",
          "resources",
          "securityContext",
          "terminationMessagePath",
          "terminationMessagePolicy");

  private final AdmittedRequests requests;
  private final Predicate<String> placeholderImage;
  private final Function<JsonNode, Optional<Owner>> jobBehind;
  private final WeakInterner<PodRecord.Amounts> amounts = new WeakInterner<>();
  private final WeakInterner<String> names = new WeakInterner<>();
  private final WeakInterner<List<Owner>> owners = new WeakInterner<>();
  private final WeakInterner<PodRecord.PodEligibility> eligibilities = new WeakInterner<>();

  /**
   * A parser that counts requests as quota does, for pods that are parts of no job but by their
   * controllers.
   *
   * @param placeholderImage whether an AdmissionCheck names this image for placeholder pods
   */
  public PodRecordParser(AdmittedRequests requests, Predicate<String> placeholderImage) {
    this(requests, placeholderImage, metadata -> Optional.empty());
  }

  /**
   * A parser that counts requests as quota does.
   *
   * @param placeholderImage whether an AdmissionCheck names this image for placeholder pods
   * @param jobBehind the job that a pod is a part of although its controller is another pod, by its
   *     metadata
   */
  public PodRecordParser(
      AdmittedRequests requests,
      Predicate<String> placeholderImage,
      Function<JsonNode, Optional<Owner>> jobBehind) {
    this.requests = requests;
    this.placeholderImage = placeholderImage;
    this.jobBehind = jobBehind;
  }

  /** The record of a pod of the API server. */
  public PodRecord of(JsonNode pod) {
    JsonNode metadata = pod.path("metadata");
    JsonNode spec = pod.path("spec");
    return new PodRecord(
        uid(metadata.path("uid").asText()),
        names.of(metadata.path("namespace").asText()),
        metadata.path("name").asText(),
        names.of(spec.path("nodeName").asText()),
        amounts(pod),
        owners.of(owners(metadata)),
        eligibility(metadata, spec),
        deletion(metadata));
  }

  /**
   * Whether a pod counts for nobody: it has ended, or only keeps a place for pods of a Workload
   * that have quota and are yet to come (docs/node-capacity.md#what-placeholders-count-for).
   */
  public boolean ended(JsonNode pod) {
    String phase = pod.path("status").path("phase").asText();
    return isPlaceholder(pod) || phase.equals("Succeeded") || phase.equals("Failed");
  }

  /**
   * Label and owner are what anybody may write who may change the pod. What counts is that it can't
   * do anything: its only container is an image that does nothing, and nothing else is run in it.
   * The image may be changed, and then it is a placeholder no longer. What another image ran before
   * ends at once: the grace period, which can't be changed, is none.
   */
  private boolean isPlaceholder(JsonNode pod) {
    JsonNode metadata = pod.path("metadata");
    return metadata.path("labels").path(NodeCapacityAnnotations.PLACEHOLDER).asText().equals("true")
        && controllers(metadata).stream()
            .anyMatch(
                owner ->
                    owner.kind().equals("Workload")
                        && owner.apiVersion().startsWith(ApiVersions.GROUP + "/"))
        && doesNothing(pod.path("spec"));
  }

  private boolean doesNothing(JsonNode spec) {
    JsonNode container = spec.path("containers").path(0);
    return spec.path("priorityClassName")
            .asText()
            .equals(NodeCapacityAnnotations.PLACEHOLDER_PRIORITY)
        && spec.path("containers").size() == 1
        && spec.path("initContainers").isEmpty()
        && spec.path("ephemeralContainers").isEmpty()
        && spec.path("terminationGracePeriodSeconds").asLong(DEFAULT_GRACE_SECONDS) == 0
        && container
            .propertyStream()
            .allMatch(
                field ->
                    PLACEHOLDER_FIELDS.contains(field.getKey())
                        || (field.getValue().isContainerNode() && field.getValue().isEmpty()))
        && placeholderImage.test(container.path("image").asText());
  }

  private PodRecord.Amounts amounts(JsonNode pod) {
    JsonNode spec = pod.path("spec");
    UnaryOperator<Container> held = held(pod);
    SortedMap<String, Long> requested = PodTemplateParser.requests(spec, held);
    SortedMap<String, Long> charged =
        requests.hasInjected(spec)
            ? PodTemplateParser.requests(spec, it -> requests.charged(held.apply(it)))
            : requested;
    return amounts.of(
        new PodRecord.Amounts(requested, requests.counted(charged), requests.claims(pod)));
  }

  /**
   * What a pod belongs to. Another pod as its controller may be any: who lets the pod run as a part
   * of the job behind that one has it counted there, too.
   */
  private List<Owner> owners(JsonNode metadata) {
    List<Owner> controllers = controllers(metadata);
    return controllers.stream().noneMatch(Owner::isPod)
        ? controllers
        : Stream.concat(controllers.stream(), jobBehind.apply(metadata).stream()).toList();
  }

  /**
   * What containers hold on their node while a resize isn't done there, as kube-scheduler counts
   * it: the largest of what they request, of what the node has allocated to them and of what they
   * have; and what they request not at all where the node can never give it.
   */
  private static UnaryOperator<Container> held(JsonNode pod) {
    JsonNode status = pod.path("status");
    boolean resizing = !status.path("resize").asText().isEmpty();
    boolean infeasible = status.path("resize").asText().equals(INFEASIBLE);
    for (JsonNode condition : status.path("conditions")) {
      String type = condition.path("type").asText();
      boolean pending = type.equals("PodResizePending");
      if (condition.path("status").asText().equals("True")
          && (pending || type.equals("PodResizeInProgress"))) {
        resizing = true;
        infeasible |= pending && condition.path("reason").asText().equals(INFEASIBLE);
      }
    }
    Map<String, JsonNode> containers = new HashMap<>();
    for (String list : List.of("containerStatuses", "initContainerStatuses")) {
      for (JsonNode container : status.path(list)) {
        if (resizing || container.has(ALLOCATED)) {
          containers.put(container.path("name").asText(), container);
        }
      }
    }
    if (containers.isEmpty()) {
      return UnaryOperator.identity();
    }
    boolean unfinished = resizing;
    boolean requestsNothing = infeasible;
    return container -> {
      JsonNode known = containers.get(container.name());
      return known == null ? container : held(container, known, unfinished, requestsNothing);
    };
  }

  /**
   * What a kubelet says that a container has is no more than a rounding of what it requests once a
   * resize is done, and doesn't count then.
   */
  private static Container held(
      Container container, JsonNode status, boolean resizing, boolean infeasible) {
    Map<String, Long> allocated = PodTemplateParser.amounts(status.path(ALLOCATED));
    Map<String, Long> requests = new HashMap<>(container.resources().requests());
    if (infeasible && !allocated.isEmpty()) {
      requests.clear();
    }
    allocated.forEach((resource, amount) -> requests.merge(resource, amount, Math::max));
    if (resizing) {
      PodTemplateParser.amounts(status.path("resources").path("requests"))
          .forEach(
              (resource, amount) ->
                  requests.computeIfPresent(
                      resource,
                      (same, most) ->
                          same.equals("cpu") && amount <= LEAST_CPU
                              ? most
                              : Long.valueOf(Math.max(most, amount))));
    }
    return new Container(
        container.name(),
        new ResourceNeeds(requests, container.resources().limits()),
        container.restartable());
  }

  private static List<Owner> controllers(JsonNode metadata) {
    return metadata
        .path("ownerReferences")
        .valueStream()
        .filter(reference -> reference.path("controller").asBoolean())
        .limit(1)
        .map(
            reference ->
                bounded(
                    new Owner(
                        reference.path("apiVersion").asText(),
                        reference.path("kind").asText(),
                        reference.path("name").asText(),
                        reference.path("uid").asText())))
        .toList();
  }

  /**
   * The API server takes an owner of any length, and several of a pod are remembered. What is cut
   * off stays longer than any name of an object, so that it is nobody's.
   */
  static Owner bounded(Owner owner) {
    return new Owner(
        bounded(owner.apiVersion()),
        bounded(owner.kind()),
        bounded(owner.name()),
        bounded(owner.uid()));
  }

  private static String bounded(String text) {
    return text.length() <= LONGEST_NAME ? text : text.substring(0, LONGEST_NAME + 1);
  }

  private PodRecord.PodEligibility eligibility(JsonNode metadata, JsonNode spec) {
    JsonNode gates = spec.path("schedulingGates");
    boolean held =
        metadata.path("labels").path(KueueConstants.MANAGED).asText().equals("true")
            || gates
                .valueStream()
                .anyMatch(gate -> gate.path("name").asText().equals(KueueConstants.ADMISSION_GATE));
    return eligibilities.of(
        new PodRecord.PodEligibility(
            !gates.isEmpty(),
            held,
            grace(spec.path("terminationGracePeriodSeconds"), DEFAULT_GRACE_SECONDS),
            leftBy(metadata)));
  }

  /**
   * The garbage collector takes the reference off that a pod has to a job which is deleted without
   * its pods. A label of the Job controller is left. It counts beside the label that a pod gets
   * when its Workload is admitted, and only for a job that has ended.
   */
  private static Optional<String> leftBy(JsonNode metadata) {
    JsonNode labels = metadata.path("labels");
    return labels.has(KueueConstants.PODSET) && controllers(metadata).isEmpty()
        ? Optional.of(labels.path(JOB_UID).asText()).filter(uid -> !uid.isEmpty())
        : Optional.empty();
  }

  /** Nobody sets a bound to what a pod may say; with this one can still reckon. */
  private static long grace(JsonNode seconds, long otherwise) {
    return Math.clamp(seconds.asLong(otherwise), 0, LONGEST_GRACE_SECONDS);
  }

  private static Optional<PodRecord.Deletion> deletion(JsonNode metadata) {
    if (!metadata.hasNonNull("deletionTimestamp")) {
      return Optional.empty();
    }
    long grace = grace(metadata.path("deletionGracePeriodSeconds"), 0);
    Instant due = JsonFields.time(metadata.path("deletionTimestamp")).orElse(Instant.EPOCH);
    return Optional.of(new PodRecord.Deletion(due, grace));
  }

  /** The UID in this text; one made of the text if it isn't a UUID. */
  public static UUID uid(String text) {
    try {
      return UUID.fromString(text);
    } catch (IllegalArgumentException notAUuid) {
      return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8));
    }
  }
}
