package dev.sluice.kubequeue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * The words of docs/kube-queue.md#what-fits taken literally, for one resource at a time: usage of a
 * node is that of its own jobs and what its children count for; a child with a lend limit counts
 * for at least what it doesn't lend; every node from the job's up to the root may use {@code rate}
 * times its max. The same holds for the number of jobs. What is used by jobs that are not
 * preemptible may be {@code rate} times what the node is guaranteed: of the root that is its max.
 */
final class NaiveQuotaTree {

  private static final String JOBS = "kube-queue/max-jobs";

  private final QuotaTree tree;
  private final long rate;
  private final Map<String, Map<String, Long>> own = new HashMap<>();
  private final Map<String, Map<String, Long>> guaranteed = new HashMap<>();

  NaiveQuotaTree(QuotaTree tree, long rate) {
    this.tree = tree;
    this.rate = rate;
  }

  /** Whether a request of the node at this path fits beside what is used. */
  boolean fits(String path, Map<String, Long> request, boolean isGuaranteed) {
    use(path, request, isGuaranteed, 1);
    boolean fits =
        Stream.concat(Stream.of(JOBS), request.keySet().stream())
            .allMatch(
                resource ->
                    above(path).allMatch(node -> used(node, resource) <= limit(node, resource)));
    boolean withinGuarantee =
        !isGuaranteed
            || request.keySet().stream()
                .filter(tree.resources()::contains)
                .allMatch(
                    resource ->
                        above(path)
                            .allMatch(
                                node ->
                                    usedBelow(node, resource) <= rate * guarantee(node, resource)));
    use(path, request, isGuaranteed, -1);
    return fits && withinGuarantee;
  }

  /** Adds a request to the usage, or takes it away. */
  void use(String path, Map<String, Long> request, boolean isGuaranteed, int sign) {
    add(own, path, request, sign);
    add(own, path, Map.of(JOBS, 1L), sign);
    if (isGuaranteed) {
      add(guaranteed, path, request, sign);
    }
  }

  private static void add(
      Map<String, Map<String, Long>> usages, String path, Map<String, Long> request, int sign) {
    Map<String, Long> usage = usages.computeIfAbsent(path, any -> new HashMap<>());
    request.forEach((resource, amount) -> usage.merge(resource, sign * amount, Long::sum));
  }

  private Stream<QuotaDeclaration> above(String path) {
    Stream.Builder<QuotaDeclaration> nodes = Stream.builder();
    tree.root()
        .visit(
            node -> {
              if (path.equals(node.path()) || path.startsWith(node.path() + "/")) {
                nodes.add(node);
              }
            });
    return nodes.build();
  }

  private long limit(QuotaDeclaration node, String resource) {
    Long max = node.max().get(resource);
    return max == null ? Long.MAX_VALUE : rate * max;
  }

  /** Its min, or what is guaranteed below it if that is more. */
  private long guarantee(QuotaDeclaration node, String resource) {
    if (node.path().equals(tree.root().path())) {
      return node.max().getOrDefault(resource, Long.MAX_VALUE / 4);
    }
    return Math.max(
        node.min().getOrDefault(resource, 0L),
        sum(node.children(), child -> guarantee(child, resource)));
  }

  private long usedBelow(QuotaDeclaration node, String resource) {
    return amount(guaranteed, node, resource)
        + sum(node.children(), child -> usedBelow(child, resource));
  }

  private static long sum(List<QuotaDeclaration> nodes, ToLongFunction<QuotaDeclaration> amount) {
    return nodes.stream().mapToLong(amount).sum();
  }

  private static long amount(
      Map<String, Map<String, Long>> usages, QuotaDeclaration node, String resource) {
    return Objects.requireNonNullElse(usages.getOrDefault(node.path(), Map.of()).get(resource), 0L);
  }

  private long used(QuotaDeclaration node, String resource) {
    long used = amount(own, node, resource);
    for (QuotaDeclaration child : node.children()) {
      long counts = used(child, resource);
      Long lends = child.lendLimit().get(resource);
      if (lends != null) {
        counts = Math.max(counts, child.min().getOrDefault(resource, 0L) - lends);
      }
      used += counts;
    }
    return used;
  }
}
