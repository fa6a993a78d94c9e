package dev.sluice.kubequeue;

import dev.sluice.api.Quantities;
import dev.sluice.kubequeue.QuotaArithmetic.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What is wrong with the amounts of a tree. */
final class QuotaFaults {

  private QuotaFaults() {}

  /** What keeps the tree from being used, one sentence each. */
  static List<String> of(QuotaTree tree) {
    return tree.resources().stream()
        .flatMap(
            resource ->
                of(tree.root(), resource, QuotaArithmetic.limits(tree.root(), resource)).stream())
        .toList();
  }

  private static List<String> of(
      QuotaDeclaration root, String resource, Map<String, Limits> limits) {
    List<String> faults = new ArrayList<>();
    root.visit(
        quota -> {
          Long max = quota.max().get(resource);
          if (max == null) {
            return;
          }
          long min = quota.min().getOrDefault(resource, 0L);
          if (min > max) {
            faults.add(
                "%s: min %s of %s is more than max %s"
                    .formatted(
                        quota.path(),
                        Quantities.format(resource, min),
                        resource,
                        Quantities.format(resource, max)));
            return;
          }
          long guaranteed = Objects.requireNonNull(limits.get(quota.path())).guaranteed();
          if (guaranteed > max) {
            faults.add(
                "%s: the quotas below it are guaranteed %s of %s, more than its max %s"
                    .formatted(
                        quota.path(),
                        Quantities.format(resource, guaranteed),
                        resource,
                        Quantities.format(resource, max)));
          }
        });
    return faults;
  }
}
