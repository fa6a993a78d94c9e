package dev.sluice.queues.mapping;

import dev.sluice.api.Quantities;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1beta2.FairSharing.AdmissionFairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.queues.mapping.ClusterQueueMapper.FairWeightParser;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps LocalQueues to the scheduler's model. */
public final class LocalQueueMapper {

  private static final Logger LOG = LoggerFactory.getLogger(LocalQueueMapper.class);

  private LocalQueueMapper() {}

  /** The identifier of a LocalQueue. */
  public static LocalQueueId id(LocalQueue queue) {
    return new LocalQueueId(queue.getMetadata().getNamespace(), queue.getMetadata().getName());
  }

  /** Maps a LocalQueue. */
  public static LocalQueueSpec translate(LocalQueue queue) {
    dev.sluice.api.v1beta2.LocalQueue.LocalQueueSpec spec = queue.getSpec();
    if (spec == null) {
      return new LocalQueueSpec(id(queue), "", StopPolicy.NONE);
    }
    return new LocalQueueSpec(
        id(queue),
        spec.clusterQueue() == null ? "" : spec.clusterQueue(),
        ClusterQueueMapper.stopPolicy(spec.stopPolicy()),
        FairWeightParser.ofLocalQueue(spec.fairSharing()),
        QueueAnnotations.ofLocalQueue(queue.getMetadata().getAnnotations()).maxWorkloads());
  }

  /** What is wrong with the annotations of a LocalQueue, one sentence per fault. */
  public static List<String> faults(LocalQueue queue) {
    return QueueAnnotations.sentences(
        QueueAnnotations.ofLocalQueue(queue.getMetadata().getAnnotations()).faults(),
        queue.getMetadata().getAnnotations());
  }

  /** The past usage recorded in the status; empty if it is absent or incomplete. */
  public static Optional<SchedulerEvent.LocalQueueUsed> used(LocalQueue queue) {
    return Optional.ofNullable(queue.getStatus())
        .flatMap(status -> Optional.ofNullable(status.fairSharing()))
        .flatMap(sharing -> Optional.ofNullable(sharing.admissionFairSharingStatus()))
        .flatMap(past -> used(id(queue), past));
  }

  private static Optional<SchedulerEvent.LocalQueueUsed> used(
      LocalQueueId id, AdmissionFairSharingStatus past) {
    String lastUpdate = past.lastUpdate();
    if (lastUpdate == null) {
      return Optional.empty();
    }
    try {
      Map<String, Double> consumed = new HashMap<>();
      past.consumedResources()
          .forEach(
              (resource, quantity) ->
                  consumed.put(
                      resource, Math.max(0, Quantities.parse(quantity.toString()).doubleValue())));
      return Optional.of(
          new SchedulerEvent.LocalQueueUsed(id, consumed, Instant.parse(lastUpdate)));
    } catch (IllegalArgumentException | DateTimeException e) {
      LOG.warn("localQueue={} pastUse=not-readable reason=\"{}\"", id, e.getMessage());
      return Optional.empty();
    }
  }
}
