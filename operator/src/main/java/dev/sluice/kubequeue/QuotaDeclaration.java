package dev.sluice.kubequeue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One quota of a tree, as somebody declared it. Amounts are in the scheduler's units.
 *
 * @param source where it is declared
 * @param name by which jobs may name it
 * @param path the names from the root to this quota, with slashes between them
 * @param namespaces whose jobs use it
 * @param min what it is guaranteed, by resource; absent: 0
 * @param max what it may use at most, by resource; absent: unlimited
 * @param lendLimit how much of {@code min} others may use, by resource; absent: all of it
 * @param inner whether it is shared by others below it, even if there are none
 * @param children the quotas that share it
 */
public record QuotaDeclaration(
    QuotaSource source,
    String name,
    String path,
    List<String> namespaces,
    Map<String, Long> min,
    Map<String, Long> max,
    Map<String, Long> lendLimit,
    boolean inner,
    List<QuotaDeclaration> children) {

  /** The resource that counts jobs. */
  public static final String MAX_JOBS = "kube-queue/max-jobs";

  /** Keeps copies. */
  public QuotaDeclaration {
    namespaces = List.copyOf(namespaces);
    min = Map.copyOf(min);
    max = Map.copyOf(max);
    lendLimit = Map.copyOf(lendLimit);
    children = List.copyOf(children);
  }

  /** What its ClusterQueue or Cohort is called, before it is made to fit: of trees, the path. */
  public String objectName() {
    return source.kind().equals(QuotaTreeReader.KIND) ? path : name;
  }

  /** Calls {@code visitor} with this quota and all below it, from the top down. */
  public void visit(Consumer<QuotaDeclaration> visitor) {
    visitor.accept(this);
    children.forEach(child -> child.visit(visitor));
  }

  /** The namespaces of this quota and of all below it. */
  public List<String> namespacesBelow() {
    List<String> result = new ArrayList<>();
    visit(each -> result.addAll(each.namespaces()));
    return result.stream().distinct().sorted().toList();
  }
}
