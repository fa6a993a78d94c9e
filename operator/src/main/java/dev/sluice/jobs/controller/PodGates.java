package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.SlicePolicy;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.PodSetUpdate;
import dev.sluice.workload.record.CachedWorkload.PodToleration;
import dev.sluice.workload.status.CheckStates;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The pods of an elastic job at the API server, and the gates that hold back those that no quota
 * was granted for (docs/elastic-jobs.md#pods). It lists the pods whenever it is asked, because a
 * cache that misses a pod would let too many run.
 */
final class PodGates {

  static final JobKind POD = new JobKind("", "v1", "Pod", "pods", "pod");

  /** A pod with more gates isn't opened: all others have to be written again. */
  private static final int MOST_GATES = 100;

  /** So many are opened before the job is looked at again: others wait, too. */
  private static final int MOST_OPENED = 5_000;

  private final JobIntegration integration;
  private final JobClient objects;
  private final JobEvents events;

  /** {@code events} is told of each gate that is removed. */
  PodGates(JobIntegration integration, JobClient objects, JobEvents events) {
    this.integration = integration;
    this.objects = objects;
    this.events = events;
  }

  /**
   * What is kept of a pod: there may be many, and large ones.
   *
   * @param gates the names of its gates; none of one with more than {@value #MOST_GATES}
   * @param leaving whether it is being deleted: it takes room until it is gone, and another one may
   *     follow
   * @param updates what the checks of the slice add to it; empty if it isn't opened
   * @param conflict why a check can't; empty if it can
   */
  private record ListedPod(
      JobRef ref,
      long version,
      boolean gated,
      List<String> gates,
      boolean leaving,
      Optional<ObjectNode> updates,
      Optional<StartConflictException> conflict) {

    static ListedPod of(JobRef ref, JsonNode pod, CachedWorkload slice, String podSet) {
      List<String> gates = names(pod);
      boolean gated = gates.contains(KueueConstants.ELASTIC_JOB);
      boolean leaving = pod.path("metadata").has("deletionTimestamp");
      Optional<ObjectNode> updates = Optional.empty();
      Optional<StartConflictException> conflict = Optional.empty();
      if (gated && !leaving && gates.size() <= MOST_GATES) {
        try {
          updates = Optional.of(PodUpdates.of(slice, podSet, pod));
        } catch (StartConflictException contradicted) {
          conflict = Optional.of(contradicted);
        }
      }
      return new ListedPod(
          ref,
          pod.path("metadata").path("resourceVersion").asLong(),
          gated,
          updates.isPresent() ? gates : List.of(),
          leaving,
          updates,
          conflict);
    }
  }

  /** The pods of a job that have not ended, by pod set and in the order of their names. */
  private Map<String, List<ListedPod>> pods(CachedJob job, CachedWorkload slice) {
    Optional<String> selector = integration.podSelector(job.object());
    if (selector.isEmpty()) {
      return Map.of();
    }
    String only =
        slice.spec().podSets().size() == 1 ? slice.spec().podSets().getFirst().name() : "";
    Map<String, List<ListedPod>> pods = new TreeMap<>();
    objects.list(
        "/api/v1/namespaces/%s/pods?labelSelector=%s"
            .formatted(
                job.ref().namespace(), URLEncoder.encode(selector.get(), StandardCharsets.UTF_8)),
        pod -> {
          String phase = pod.path("status").path("phase").asText();
          if (!phase.equals("Succeeded") && !phase.equals("Failed")) {
            JsonNode metadata = pod.path("metadata");
            JobRef ref =
                new JobRef(
                    POD,
                    job.ref().namespace(),
                    metadata.path("name").asText(),
                    metadata.path("uid").asText());
            String podSet = metadata.path("labels").path(KueueConstants.PODSET).asText(only);
            pods.computeIfAbsent(podSet, name -> new ArrayList<>())
                .add(ListedPod.of(ref, pod, slice, podSet));
          }
        });
    pods.values().forEach(each -> each.sort(Comparator.comparing(pod -> pod.ref().name())));
    return pods;
  }

  /** The names of the scheduling gates of a pod; none for an object that is no pod. */
  static List<String> names(JsonNode pod) {
    List<String> names = new ArrayList<>();
    pod.path("spec").path("schedulingGates").forEach(gate -> names.add(gate.path("name").asText()));
    return names;
  }

  private static long open(List<ListedPod> pods) {
    return pods.stream().filter(pod -> !pod.gated()).count();
  }

  /** Whether no pod set has more pods without gate than these counts. */
  boolean areWithin(CachedJob job, CachedWorkload slice, Map<String, Integer> counts) {
    Map<String, List<ListedPod>> pods = pods(job, slice);
    return counts.entrySet().stream()
        .filter(podSet -> !integration.keepsSize(podSet.getKey()))
        .allMatch(
            podSet -> open(pods.getOrDefault(podSet.getKey(), List.of())) <= podSet.getValue());
  }

  /**
   * Opens gates until as many pods of each pod set are without gate as were granted, less those
   * whose quota was given back, or many have been opened. A pod gets what the slice's admission
   * checks add to it in the same write.
   *
   * @return whether all granted pods are there, open and not being deleted
   * @throws StartConflictException if a pod contradicts a check; the others are open
   */
  boolean open(CachedJob job, CachedWorkload slice)
      throws InterruptedException, StartConflictException {
    Map<String, Integer> granted = SlicePolicy.granted(slice);
    granted.keySet().removeIf(integration::keepsSize);
    slice
        .status()
        .reclaimablePods()
        .forEach((podSet, given) -> granted.computeIfPresent(podSet, (name, all) -> all - given));
    Map<String, List<ListedPod>> pods = pods(job, slice);
    boolean complete = true;
    int opened = 0;
    Optional<StartConflictException> conflict = Optional.empty();
    for (Map.Entry<String, Integer> podSet : granted.entrySet()) {
      List<ListedPod> present = pods.getOrDefault(podSet.getKey(), List.of());
      long leaving = present.stream().filter(pod -> !pod.gated() && pod.leaving()).count();
      long free = podSet.getValue() - open(present);
      for (ListedPod pod : present) {
        if (free > 0 && pod.conflict().isPresent()) {
          conflict = pod.conflict();
        } else if (free > 0 && pod.updates().isPresent() && opened < MOST_OPENED) {
          opened++;
          if (open(pod, pod.updates().get())) {
            free--;
            events.gateRemoved(slice, KueueConstants.ELASTIC_JOB);
          }
        }
      }
      complete &= free + leaving <= 0;
    }
    if (conflict.isPresent()) {
      throw conflict.get();
    }
    return complete;
  }

  /**
   * Opens a pod; the write is refused if the pod has changed since it was listed.
   *
   * @param body the patch with all else that the pod gets
   */
  private boolean open(ListedPod pod, ObjectNode body) throws InterruptedException {
    ArrayNode rest = JsonNodeFactory.instance.arrayNode();
    for (String gate : pod.gates()) {
      if (!gate.equals(KueueConstants.ELASTIC_JOB)) {
        rest.addObject().put("name", gate);
      }
    }
    ObjectNode spec = body.withObjectProperty("spec");
    if (rest.isEmpty()) {
      spec.putNull("schedulingGates");
    } else {
      spec.set("schedulingGates", rest);
    }
    ApiOutcome outcome =
        Futures.forResult(objects.patch(pod.ref(), pod.version(), new JobPatch(false, body)));
    if (outcome instanceof ApiOutcome.Unreachable unreachable) {
      throw unreachable.exception();
    }
    return outcome instanceof ApiOutcome.Written;
  }

  /** The newest state of a slice; empty if it has changed since it was looked at. */
  Optional<ObjectNode> read(CachedWorkload slice) throws InterruptedException {
    return Futures.forResult(
            objects.read(JobKind.WORKLOAD.path(slice.id().namespace(), slice.id().name())))
        .filter(
            object -> object.path("metadata").path("resourceVersion").asLong() == slice.version());
  }

  /**
   * What the admission checks of a slice add to its pods when their gate is opened: the template
   * that a pod was made from has what the first slice was given (docs/elastic-jobs.md#pods).
   */
  private static final class PodUpdates {

    /** Prefix of the annotations that name a slice's own ProvisioningRequest. */
    private static final String PROVISIONING = "autoscaling.x-k8s.io/";

    private PodUpdates() {}

    /**
     * The patch of a pod; empty if it has all.
     *
     * @throws StartConflictException if the pod contradicts a check
     */
    static ObjectNode of(CachedWorkload slice, String podSet, JsonNode pod)
        throws StartConflictException {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      List<CheckState> checks = slice.status().admissionChecks();
      for (CheckState check : checks) {
        for (PodSetUpdate update : check.podSetUpdates()) {
          if (check.is(CheckState.READY) && update.name().equals(podSet)) {
            merge(patch, pod, check, "metadata", "labels", update.labels());
            merge(patch, pod, check, "metadata", "annotations", update.annotations());
            merge(patch, pod, check, "spec", "nodeSelector", update.nodeSelector());
            tolerate(patch, pod, update.tolerations());
          }
        }
      }
      return patch;
    }

    /** Tolerations of a pod can be added to; a patch has to name those that it has, too. */
    private static void tolerate(ObjectNode patch, JsonNode pod, List<PodToleration> wanted) {
      JsonNode planned = patch.path("spec").path("tolerations");
      JsonNode present = planned.isMissingNode() ? pod.path("spec").path("tolerations") : planned;
      ObjectNode holder = JsonNodeFactory.instance.objectNode();
      holder.set("tolerations", present.isArray() ? present.deepCopy() : holder.arrayNode());
      PodTemplateMerger.addTolerations(holder, wanted.stream().map(CheckStates::json).toList());
      if (holder.path("tolerations").size() > present.size()) {
        patch.withObjectProperty("spec").set("tolerations", holder.path("tolerations"));
      }
    }

    private static void merge(
        ObjectNode patch,
        JsonNode pod,
        CheckState check,
        String parent,
        String field,
        Map<String, String> wanted)
        throws StartConflictException {
      for (Map.Entry<String, String> entry : wanted.entrySet()) {
        String key = entry.getKey();
        JsonNode planned = patch.path(parent).path(field).path(key);
        JsonNode present =
            planned.isMissingNode() ? pod.path(parent).path(field).path(key) : planned;
        boolean refreshed =
            planned.isMissingNode() && field.equals("annotations") && key.startsWith(PROVISIONING);
        if (!present.isMissingNode() && !present.asText().equals(entry.getValue()) && !refreshed) {
          throw new StartConflictException(
              "admission check %s sets %s.%s[%s] of pod %s to \"%s\", which is \"%s\" already"
                  .formatted(
                      check.name(),
                      parent,
                      field,
                      key,
                      pod.path("metadata").path("name").asText(),
                      entry.getValue(),
                      present.asText()));
        }
        if (!present.asText().equals(entry.getValue())) {
          patch.withObjectProperty(parent).withObjectProperty(field).put(key, entry.getValue());
        }
      }
    }
  }
}
