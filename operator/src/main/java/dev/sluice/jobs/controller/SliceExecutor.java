package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.SlicePolicy;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Carries out what was decided for the slices of elastic jobs. Slices are made from one another at
 * the API server, because caches have no pod templates.
 */
final class SliceExecutor {

  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Duration LATER = Duration.ofSeconds(10);

  private static final Duration RARELY = Duration.ofMinutes(1);
  private static final Duration LONGEST = Duration.ofMinutes(10);

  /** When the pods of a job of this version, all open, are looked at again. */
  private record Look(long version, Duration delay) {

    static Duration after(Duration delay) {
      Duration twice = delay.multipliedBy(2);
      return twice.compareTo(LONGEST) < 0 ? twice : LONGEST;
    }
  }

  /** Jobs whose granted pods were all open, by UID. */
  private final Map<String, Look> complete = new ConcurrentHashMap<>();

  private final PodGates gates;
  private final JobExecutor executor;
  private final JobEvents events;

  /**
   * @param executor writes, and remembers what it wrote until the caches show it
   */
  SliceExecutor(PodGates gates, JobExecutor executor, JobEvents events) {
    this.gates = gates;
    this.executor = executor;
    this.events = events;
  }

  Optional<Duration> create(CachedJob job, JobAction.CreateSlice create)
      throws InterruptedException {
    Optional<ObjectNode> replaced = gates.read(create.replaced());
    return replaced.isEmpty()
        ? Optional.of(SOON)
        : executor.create(job, slice(replaced.get(), create));
  }

  /** The slice that takes the place of another one. */
  private static ObjectNode slice(JsonNode replaced, JobAction.CreateSlice create) {
    JsonNode old = replaced.path("metadata");
    ObjectNode slice = JsonNodeFactory.instance.objectNode();
    slice.put("apiVersion", KueueConstants.GROUP + "/v1beta2").put("kind", "Workload");
    ObjectNode metadata = slice.putObject("metadata");
    metadata.put("name", create.name()).put("namespace", old.path("namespace").asText());
    metadata.putArray("finalizers").add(KueueConstants.RESOURCE_IN_USE);
    for (String copied : new String[] {"labels", "annotations", "ownerReferences"}) {
      if (old.has(copied)) {
        metadata.set(copied, old.path(copied).deepCopy());
      }
    }
    ObjectNode annotations = metadata.withObjectProperty("annotations");
    annotations.put(KueueConstants.WORKLOAD_SLICE_NAME, create.replaced().sliceName());
    annotations.put(
        KueueConstants.WORKLOAD_SLICE_REPLACEMENT_FOR,
        create.replaced().id().namespace() + "/" + create.replaced().id().name());
    ObjectNode spec = replaced.path("spec").deepCopy();
    spec.put("active", true);
    ArrayNode podSets = podSets(replaced, create.counts());
    for (JsonNode podSet : podSets) {
      ((ObjectNode) podSet)
          .withObject("/template/metadata/annotations")
          .put(KueueConstants.WORKLOAD_SLICE_NAME, create.replaced().sliceName());
    }
    spec.set("podSets", podSets);
    slice.set("spec", spec);
    return slice;
  }

  private static ArrayNode podSets(JsonNode workload, Map<String, Integer> counts) {
    ArrayNode podSets = workload.path("spec").path("podSets").deepCopy();
    for (JsonNode podSet : podSets) {
      Integer count = counts.get(podSet.path("name").asText());
      if (count != null) {
        ((ObjectNode) podSet).put("count", count);
      }
    }
    return podSets;
  }

  /** Changes the size of a slice; a smaller one only when no more pods run than it has room for. */
  Optional<Duration> resize(CachedJob job, JobAction.ResizeSlice resize)
      throws InterruptedException {
    CachedWorkload slice = resize.slice();
    if (resize.waitsForPods() && !gates.areWithin(job, slice, resize.counts())) {
      return Optional.of(SOON);
    }
    Optional<ObjectNode> read = gates.read(slice);
    if (read.isEmpty()) {
      return Optional.of(SOON);
    }
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").set("podSets", podSets(read.get(), resize.counts()));
    String note = "Updated Workload " + slice.id() + " to the size of the job: " + resize.counts();
    return executor.patch(job, new JobAction.PatchWorkload(slice, patch, note));
  }

  /**
   * Opens gates. Pods that the job's own controller has not made yet are looked for again. If all
   * are open, the job's controller may still replace one without a change of the job's status,
   * which would be no event: so they are looked at again, less and less often while the job doesn't
   * change.
   */
  Optional<Duration> open(CachedJob job, JobAction.OpenGates open) throws InterruptedException {
    String uid = job.ref().uid();
    try {
      if (!gates.open(job, open.slice())) {
        complete.remove(uid);
        return Optional.of(LATER);
      }
    } catch (StartConflictException conflict) {
      complete.remove(uid);
      events.warning(job.ref(), "WriteRefused", "Pods stay gated: " + conflict.conflict());
      return Optional.of(RARELY);
    }
    Look look =
        complete.merge(
            uid,
            new Look(job.version(), LATER),
            (before, now) ->
                before.version() == now.version()
                    ? new Look(now.version(), Look.after(before.delay()))
                    : now);
    return Optional.of(look.delay());
  }

  /** Forgets a job that is deleted. */
  void forget(String uid) {
    complete.remove(uid);
  }

  /** Tells that a slice has ended because another one took its place. */
  void replaced(JobAction.FinishWorkload finish) {
    CachedWorkload slice = finish.workload();
    JobRef subject =
        new JobRef(JobKind.WORKLOAD, slice.id().namespace(), slice.id().name(), slice.id().uid());
    events.normal(subject, SlicePolicy.REPLACED, finish.message());
  }
}
