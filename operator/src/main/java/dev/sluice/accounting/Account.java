package dev.sluice.accounting;

/**
 * What owns Workloads, and pods beside them.
 *
 * @param namespace its namespace
 * @param root the UID of the owner; of a group of pods, which own their Workload together, the UID
 *     of the Workload
 */
public record Account(String namespace, String root) {

  @Override
  public String toString() {
    return namespace + "/" + root;
  }
}
