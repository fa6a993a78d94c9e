package dev.sluice.kubequeue;

import java.util.List;
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
}
