package dev.sluice.core.queue;

import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.RequestShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the metric of pending requests compares: the request and the priority, without what tells
 * the slices of elastic jobs and those that they replace apart, and without names of pod sets if
 * these make no difference. Classes of one queue with equal hashes may differ in these names, in
 * the slice or in the LocalQueue.
 */
final class SchedulingHash {

  private final RequestShape shape;
  private final long priority;
  private final boolean names;
  private final int code;

  /**
   * Hashes the request of a class.
   *
   * @param names whether the names of pod sets make a difference
   */
  SchedulingHash(RequestShape shape, long priority, boolean names) {
    this.shape = shape;
    this.priority = priority;
    this.names = names;
    this.code = 31 * compared().hashCode() + Long.hashCode(priority);
  }

  /** Whether names of pod sets make a difference to this hash. */
  boolean hasNames() {
    return names;
  }

  /** Made when it is needed, and not kept: there are as many hashes as different requests. */
  private RequestShape compared() {
    RequestShape request = shape.withoutSlice().replacing(Optional.empty());
    if (names) {
      return request;
    }
    List<PodSetRequest> podSets = new ArrayList<>(request.podSets().size());
    request.podSets().forEach(podSet -> podSets.add(podSet.withName("")));
    return request.withPodSets(podSets);
  }

  @Override
  public boolean equals(Object other) {
    return this == other
        || other instanceof SchedulingHash that
            && code == that.code
            && priority == that.priority
            && names == that.names
            && (shape.equals(that.shape) || compared().equals(that.compared()));
  }

  @Override
  public int hashCode() {
    return code;
  }
}
