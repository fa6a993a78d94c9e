package dev.sluice.api.config;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * What of a pod's requests counts.
 *
 * @param blockUndeclared whether a request for a resource that the queue doesn't declare keeps the
 *     workload out; else such a request is ignored
 * @param excludeResourcePrefixes resources whose names begin so are ignored
 * @param transformations resources that count as others
 * @param injectedContainers containers that webhooks of the cluster add to pods, by name: what each
 *     may request, by resource in thousandths for cpu and in whole units otherwise, beside what its
 *     Workload was admitted with
 */
public record Resources(
    boolean blockUndeclared,
    List<String> excludeResourcePrefixes,
    List<Transformation> transformations,
    Map<String, Map<String, Long>> injectedContainers) {

  /** Every request counts as it is, and none is known to be added. */
  public static final Resources PLAIN = new Resources(true, List.of(), List.of(), Map.of());

  /** Keeps a copy of what containers may request. */
  public Resources {
    injectedContainers = Map.copyOf(injectedContainers);
  }

  /**
   * A resource that counts as others.
   *
   * @param input the resource that pods request
   * @param replace whether the input itself no longer counts
   * @param multiplyBy a resource whose amount multiplies the outputs; empty: none
   * @param outputs what one unit of the input counts as
   */
  public record Transformation(
      String input, boolean replace, String multiplyBy, Map<String, BigDecimal> outputs) {

    /** Keeps a copy of the outputs. */
    public Transformation {
      outputs = Map.copyOf(outputs);
    }
  }
}
