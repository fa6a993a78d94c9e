package dev.sluice.kubequeue;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The words of docs/kube-queue.md#what-fits taken literally, for one resource at a time: usage of a
 * node is that of its own jobs and what its children count for; a child with a lend limit counts
 * for at least what it doesn't lend; every node from the job's up to the root may use {@code rate}
 * times its max.
 */
final class NaiveQuotaTree {

  private final QuotaDeclaration root;
  private final long rate;
  private final Map<String, Map<String, Long>> own = new HashMap<>();

  NaiveQuotaTree(QuotaDeclaration root, long rate) {
    this.root = root;
    this.rate = rate;
  }

  /** Whether a request of the node at this path fits beside what is used. */
  boolean fits(String path, Map<String, Long> request) {
    use(path, request, 1);
    boolean fits =
        request.keySet().stream()
            .allMatch(
                resource ->
                    above(path).allMatch(node -> used(node, resource) <= limit(node, resource)));
    use(path, request, -1);
    return fits;
  }

  /** Adds a request to the usage, or takes it away. */
  void use(String path, Map<String, Long> request, int sign) {
    Map<String, Long> usage = own.computeIfAbsent(path, any -> new HashMap<>());
    request.forEach((resource, amount) -> usage.merge(resource, sign * amount, Long::sum));
  }

  private Stream<QuotaDeclaration> above(String path) {
    Stream.Builder<QuotaDeclaration> nodes = Stream.builder();
    root.visit(
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

  private long used(QuotaDeclaration node, String resource) {
    long used =
        Objects.requireNonNullElse(own.getOrDefault(node.path(), Map.of()).get(resource), 0L);
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
