package dev.sluice.kubequeue;

import dev.sluice.kubequeue.PlannedObject.ObjectId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What has to be, and what follows from it for jobs.
 *
 * @param objects as they have to be, in the order in which they are made
 * @param removed objects that have to go, in the order in which they go
 * @param waiting whether an object goes only when it isn't in use any more
 * @param taken what is said of names that others use
 * @param queues how jobs find their queues
 */
public record QuotaPlan(
    List<PlannedObject> objects,
    List<ObjectId> removed,
    boolean waiting,
    List<TakenName> taken,
    Mapping queues) {

  /**
   * A name that is used by an object that wasn't made from a quota.
   *
   * @param source the quota's source
   * @param note what is said, one sentence
   */
  public record TakenName(QuotaSource source, String note) {}

  /**
   * A quota that jobs may name.
   *
   * @param path of the quota
   * @param namespaces from which they may, if not from all
   */
  record Named(SourceMark.Identity quota, Set<String> namespaces) {}

  /** A queue of a namespace. */
  record Place(String namespace, SourceMark.Identity quota) {}

  /**
   * How jobs find their queues.
   *
   * @param byNamespace the quota of each namespace
   * @param byName the quotas by the names that jobs use
   * @param localQueues the LocalQueue of each namespace for each quota
   */
  record Mapping(
      Map<String, SourceMark.Identity> byNamespace,
      Map<String, Named> byName,
      Map<Place, String> localQueues) {

    /** Nothing is mapped. */
    static final Mapping NONE = new Mapping(Map.of(), Map.of(), Map.of());

    /** Keeps copies. */
    Mapping {
      byNamespace = Map.copyOf(byNamespace);
      byName = Map.copyOf(byName);
      localQueues = Map.copyOf(localQueues);
    }

    /** The LocalQueue of a namespace for a quota, if there is one. */
    Optional<String> localQueue(Place place) {
      return Optional.ofNullable(localQueues.get(place));
    }
  }
}
