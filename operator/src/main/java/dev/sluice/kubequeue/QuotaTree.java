package dev.sluice.kubequeue;

import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Quotas that share what the root has.
 *
 * @param root whose {@code max} is what there is; absent: unlimited
 * @param oversold whether limits may be used several times over
 */
public record QuotaTree(QuotaDeclaration root, boolean oversold) {

  /** The resources that any quota of the tree names, without the one that counts jobs. */
  public SortedSet<String> resources() {
    SortedSet<String> names = new TreeSet<>();
    root.visit(
        each -> {
          names.addAll(each.min().keySet());
          names.addAll(each.max().keySet());
        });
    names.remove(QuotaDeclaration.MAX_JOBS);
    return names;
  }
}
