package dev.sluice.workload;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.Resources.Transformation;
import dev.sluice.workload.CachedWorkload.Assignment;
import dev.sluice.workload.CachedWorkload.PodSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Compares the requests of an existing pod with what its pod set was admitted with per pod. Usable
 * from any thread.
 */
public final class AdmittedRequests {

  /** Every resource is counted as it is requested. */
  public static final AdmittedRequests PLAIN = new AdmittedRequests(List.of(), List.of(), false);

  private final ResourceTransformer transformer;
  private final boolean ignoresUndeclared;

  /**
   * Counts as quota does.
   *
   * @param excludedPrefixes resources with one of these name prefixes are not counted
   * @param transformations resources that are counted as other resources
   * @param ignoresUndeclared whether resources without an assigned amount are not counted
   */
  public AdmittedRequests(
      List<String> excludedPrefixes,
      List<Transformation> transformations,
      boolean ignoresUndeclared) {
    this.transformer = new ResourceTransformer(excludedPrefixes, transformations);
    this.ignoresUndeclared = ignoresUndeclared;
  }

  /**
   * What a pod requests beyond the amounts of one pod of its pod set; empty if the pod is within
   * them. These amounts are the assigned usage divided by the assigned count, or the requests of
   * the pod set's template where those are larger.
   *
   * @param pod the pod as the API server returned it
   * @return for example {@code cpu: 2000 of 1000}, in thousandths for cpu, in whole units otherwise
   */
  public Optional<String> excess(JsonNode pod, PodSet podSet, Assignment assignment) {
    SortedMap<String, Long> template = counted(podSet.template());
    for (Map.Entry<String, Long> requested : counted(PodTemplateParser.of(pod)).entrySet()) {
      String resource = requested.getKey();
      String usage = assignment.resourceUsage().get(resource);
      if (usage == null && ignoresUndeclared) {
        continue;
      }
      long assigned = usage == null ? 0 : perPod(resource, usage, assignment.count());
      long allowed = Math.max(assigned, template.getOrDefault(resource, 0L));
      if (requested.getValue() > allowed) {
        return Optional.of("%s: %d of %d".formatted(resource, requested.getValue(), allowed));
      }
    }
    return Optional.empty();
  }

  /** Whether one pod requests more of any counted resource than another. */
  public boolean isLarger(JsonNode pod, JsonNode other) {
    SortedMap<String, Long> counted = counted(PodTemplateParser.of(other));
    return counted(PodTemplateParser.of(pod)).entrySet().stream()
        .anyMatch(requested -> requested.getValue() > counted.getOrDefault(requested.getKey(), 0L));
  }

  /** What quota counts of the amounts that an existing pod requests. */
  public SortedMap<String, Long> counted(SortedMap<String, Long> requested) {
    return transformer.of(requested);
  }

  /** Whether resources without an assigned amount are not counted. */
  public boolean ignoresUndeclared() {
    return ignoresUndeclared;
  }

  /**
   * The amounts that some pods of a pod set may request together: the assigned usage, or the
   * requests of the template where those are larger.
   *
   * @param pods how many of the assigned pods
   */
  public SortedMap<String, Long> allowed(PodSet podSet, Assignment assignment, int pods) {
    SortedMap<String, Long> allowed = new TreeMap<>();
    counted(podSet.template())
        .forEach((resource, amount) -> allowed.put(resource, times(amount, pods)));
    assignment
        .resourceUsage()
        .forEach(
            (resource, usage) -> {
              long perPod = perPod(resource, usage, assignment.count());
              allowed.merge(resource, times(perPod, pods), Math::max);
            });
    return allowed;
  }

  private static long times(long amount, int pods) {
    return amount > 0 && pods > Long.MAX_VALUE / amount ? Long.MAX_VALUE : amount * pods;
  }

  /** What quota counts of an existing pod, or of a template that needs no defaults. */
  public SortedMap<String, Long> of(JsonNode pod) {
    return counted(PodTemplateParser.of(pod));
  }

  /** The API server has written limits and overhead of the namespace into an existing pod. */
  private SortedMap<String, Long> counted(PodTemplate template) {
    return transformer.of(
        PodRequests.of(template, NamespaceLimits.NONE, ResourceContext.NONE).perPod());
  }

  /** Treats an invalid quantity as zero; the API server rejects such quantities. */
  private static long perPod(String resource, String usage, int count) {
    try {
      return count > 0 ? Quantities.amount(resource, usage) / count : 0;
    } catch (IllegalArgumentException e) {
      return 0;
    }
  }
}
