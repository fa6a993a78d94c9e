package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.KubeQueue.Policy;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a Queue says of the ClusterQueue of its quota.
 *
 * @param policy how it is served; empty: as configured
 * @param policyText the policy as it was written; empty: the configured one
 * @param priority heads of queues with a higher one are tried earlier
 * @param blockUntilReady whether the next is admitted only when the pods of the one before run
 * @param preempts whether a Workload may preempt others of lower priority in the same queue
 * @param listed other quotas whose jobs may choose the queue; {@code *} is any
 * @param checks the admission checks that Workloads need, each with the selector of those that need
 *     it
 */
public record QueueOverride(
    Optional<Policy> policy,
    String policyText,
    Optional<Integer> priority,
    boolean blockUntilReady,
    boolean preempts,
    List<String> listed,
    SortedMap<String, JsonNode> checks) {

  /** There is no Queue, or it says nothing. */
  public static final QueueOverride NONE =
      new QueueOverride(
          Optional.empty(), "", Optional.empty(), false, false, List.of(), new TreeMap<>());

  /** Keeps a copy. */
  public QueueOverride {
    listed = List.copyOf(listed);
    checks = Collections.unmodifiableSortedMap(new TreeMap<>(checks));
  }
}
