package dev.sluice.kubequeue;

import dev.sluice.api.Quantities;
import dev.sluice.kubequeue.QuotaArithmetic.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What was read from a source.
 *
 * @param tree the quotas; empty if they can't be used
 * @param faults why they can't be used, one sentence each
 * @param unsupported what is there and has no effect, one sentence each
 * @param warnings what people may not have meant, one sentence each, beginning with the quota's
 *     path
 */
public record QuotaReading(
    Optional<QuotaTree> tree,
    List<String> faults,
    List<String> unsupported,
    List<String> warnings) {

  /** A reading whose quotas are used unless there are faults. */
  static QuotaReading of(QuotaTree tree, List<String> faults, List<String> unsupported) {
    List<String> all = faults.isEmpty() ? QuotaFaults.of(tree) : faults;
    return new QuotaReading(
        all.isEmpty() ? Optional.of(tree) : Optional.empty(),
        all,
        List.copyOf(unsupported),
        all.isEmpty() ? QuotaFaults.warnings(tree) : List.of());
  }

  /** What is wrong with the amounts of a tree. */
  static final class QuotaFaults {

    /** As many as a ClusterQueue can cover. */
    private static final int MOST_RESOURCES = 64;

    private QuotaFaults() {}

    /** What keeps the tree from being used, one sentence each. */
    static List<String> of(QuotaTree tree) {
      if (tree.resources().size() > MOST_RESOURCES) {
        return List.of(
            "%s: it names more than %d resources".formatted(tree.root().path(), MOST_RESOURCES));
      }
      List<String> faults = new ArrayList<>();
      tree.resources()
          .forEach(
              resource ->
                  faults.addAll(
                      of(tree.root(), resource, QuotaArithmetic.limits(tree.root(), resource))));
      tree.root().visit(quota -> jobs(quota).ifPresent(faults::add));
      return faults;
    }

    /**
     * What the tree is used in spite of: quotas that are guaranteed more together than the one
     * above them. Published examples have that. The root has no guarantee of its own.
     */
    static List<String> warnings(QuotaTree tree) {
      List<String> warnings = new ArrayList<>();
      for (String resource : tree.resources()) {
        Map<String, Limits> limits = QuotaArithmetic.limits(tree.root(), resource);
        tree.root()
            .children()
            .forEach(
                child ->
                    child.visit(
                        quota -> {
                          long min = quota.min().getOrDefault(resource, 0L);
                          long guaranteed =
                              Objects.requireNonNull(limits.get(quota.path())).guaranteed();
                          if (guaranteed > min) {
                            warnings.add(
                                "%s: the quotas below it are guaranteed %s of %s, more than its min %s"
                                    .formatted(
                                        quota.path(),
                                        Quantities.format(resource, guaranteed),
                                        resource,
                                        Quantities.format(resource, min)));
                          }
                        }));
      }
      return warnings;
    }

    /** A limit of no jobs at all can't be written as a limit of the number of Workloads. */
    private static Optional<String> jobs(QuotaDeclaration quota) {
      Long most = quota.max().get(QuotaDeclaration.MAX_JOBS);
      if (most == null) {
        return Optional.empty();
      }
      if (most < 1) {
        return Optional.of(
            "%s: max 0 of %s is less than 1".formatted(quota.path(), QuotaDeclaration.MAX_JOBS));
      }
      long min = quota.min().getOrDefault(QuotaDeclaration.MAX_JOBS, 0L);
      return min <= most
          ? Optional.empty()
          : Optional.of(
              "%s: min %d of %s is more than max %d"
                  .formatted(quota.path(), min, QuotaDeclaration.MAX_JOBS, most));
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
}
