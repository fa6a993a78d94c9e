package dev.sluice.core.topology;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.topology.SpreadGroups.Found;
import dev.sluice.core.topology.SpreadGroups.Group;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a Workload uses of domains. It counts while it is added: {@link #add} and {@link #remove}
 * come in pairs. Confined to the scheduler thread.
 */
public final class TopologyUsage {

  /**
   * Usage of one resource in one domain.
   *
   * @param spare what has to be free beside it, for the places to be sure; 0 where it is enough
   *     that the amount is free
   */
  private record Amount(Slot slot, int resource, long amount, long spare) {

    Amount(Slot slot, int resource, long amount) {
      this(slot, resource, amount, 0);
    }

    boolean sameAs(Amount other) {
      return slot == other.slot && resource == other.resource && amount == other.amount;
    }
  }

  private final List<Amount> amounts;

  /** The groups that the pods are, where groups are spread. */
  private final List<Group> groups;

  /** What the places depend on beside room. */
  private final List<Found> found;

  /** Where groups are counted; null if there are none. */
  private final @Nullable SpreadGroups spreadGroups;

  private TopologyUsage(List<Amount> amounts) {
    this(amounts, List.of(), List.of(), null);
  }

  private TopologyUsage(
      List<Amount> amounts,
      List<Group> groups,
      List<Found> found,
      @Nullable SpreadGroups spreadGroups) {
    this.amounts = amounts;
    this.groups = groups;
    this.found = found;
    this.spreadGroups = spreadGroups;
  }

  private TopologyUsage with(List<Amount> others) {
    return new TopologyUsage(others, groups, found, spreadGroups);
  }

  /** The same usage of pods that count as groups. */
  TopologyUsage of(List<Group> others, SpreadGroups spread) {
    return others.isEmpty() ? this : new TopologyUsage(amounts, others, found, spread);
  }

  /** The same usage, whose places are right only as long as the groups besides are those found. */
  TopologyUsage asLongAs(List<Found> others, SpreadGroups spread) {
    return others.isEmpty() ? this : new TopologyUsage(amounts, groups, others, spread);
  }

  /** Whether the pods count as groups that are spread over domains. */
  public boolean isSpread() {
    return !groups.isEmpty();
  }

  /** Whether the places depend on the groups of other Workloads. */
  public boolean dependsOnGroups() {
    return !found.isEmpty();
  }

  static TopologyUsage of(Map<Slot, long[]> bySlot) {
    List<Amount> amounts = new ArrayList<>();
    bySlot.forEach(
        (slot, perResource) -> {
          for (int i = 0; i < perResource.length; i++) {
            if (perResource[i] != 0) {
              amounts.add(new Amount(slot, i, perResource[i]));
            }
          }
        });
    return new TopologyUsage(amounts);
  }

  /** The usage as a value. */
  public TopologyExport.Usage export() {
    return new TopologyExport.Usage(
        amounts.stream()
            .map(
                each ->
                    new TopologyExport.DomainUsage(
                        each.slot.key.flavor(), each.slot.key.values(), each.resource, each.amount))
            .toList(),
        groups.stream()
            .map(each -> new TopologyExport.GroupUsage(each.member(), each.assignment()))
            .toList());
  }

  /**
   * The usage that a value stands for, which doesn't count until it is added.
   *
   * @param slots the slot of a key
   */
  static TopologyUsage restored(
      List<TopologyExport.DomainUsage> exported, Function<Slot.Key, Slot> slots) {
    return new TopologyUsage(
        exported.stream()
            .map(
                each ->
                    new Amount(
                        slots.apply(new Slot.Key(each.flavor(), each.values())),
                        each.resource(),
                        each.amount()))
            .toList());
  }

  /** Counts the usage. */
  public void add() {
    if (spreadGroups != null) {
      groups.forEach(spreadGroups::add);
    }
    for (Amount each : amounts) {
      each.slot.users++;
      each.slot.add(each.resource, each.amount);
    }
  }

  /** Doesn't count the usage any more. */
  public void remove() {
    if (spreadGroups != null) {
      groups.forEach(spreadGroups::remove);
    }
    for (Amount each : amounts) {
      each.slot.users--;
      each.slot.add(each.resource, -each.amount);
    }
  }

  /** The amount of a resource that is used of each leaf of a tree. */
  Map<Integer, Long> in(TopologyTree tree, int resource) {
    Map<Integer, Long> byLeaf = new LinkedHashMap<>();
    for (Amount each : amounts) {
      int leaf = each.resource == resource ? each.slot.leafIn(tree) : -1;
      if (leaf >= 0) {
        byLeaf.merge(leaf, each.amount, Long::sum);
      }
    }
    return byLeaf;
  }

  /** Whether the domains have room for the usage, which doesn't count at the moment. */
  public boolean fits() {
    for (Amount each : amounts) {
      if (!each.slot.hasRoom(each.resource, ResourceAmounts.add(each.amount, each.spare))) {
        return false;
      }
    }
    return spreadGroups == null || found.stream().allMatch(spreadGroups::areStill);
  }

  /** Whether the other usage is of the same amounts in the same domains, by the same groups. */
  public boolean sameAs(TopologyUsage other) {
    boolean same = amounts.size() == other.amounts.size() && groups.equals(other.groups);
    for (int i = 0; same && i < amounts.size(); i++) {
      same = amounts.get(i).sameAs(other.amounts.get(i));
    }
    return same;
  }

  /**
   * The same usage, which has room only as long as at least as much is free in its domains as now.
   */
  public TopologyUsage asFreeAsNow() {
    return with(
        amounts.stream()
            .map(
                each ->
                    new Amount(
                        each.slot,
                        each.resource,
                        each.amount,
                        Math.max(0, each.slot.free(each.resource) - each.amount)))
            .toList());
  }

  /** Several usages as one; null if there are none. */
  public static @Nullable TopologyUsage together(List<TopologyUsage> usages) {
    if (usages.isEmpty()) {
      return null;
    }
    Map<Slot, long[]> sums = new LinkedHashMap<>();
    List<Group> groups = new ArrayList<>(0);
    SpreadGroups spreadGroups = null;
    for (TopologyUsage usage : usages) {
      groups.addAll(usage.groups);
      spreadGroups = usage.spreadGroups == null ? spreadGroups : usage.spreadGroups;
      for (Amount each : usage.amounts) {
        long[] before = sums.getOrDefault(each.slot, new long[0]);
        long[] after = Arrays.copyOf(before, Math.max(before.length, each.resource + 1));
        after[each.resource] = ResourceAmounts.add(after[each.resource], each.amount);
        sums.put(each.slot, after);
      }
    }
    TopologyUsage together = of(sums);
    return spreadGroups == null ? together : together.of(groups, spreadGroups);
  }

  /**
   * The part of a usage that another one doesn't hold: in each domain and of each resource what it
   * has more, and its groups; null if that is nothing.
   */
  public static @Nullable TopologyUsage beyond(
      @Nullable TopologyUsage usage, @Nullable TopologyUsage held) {
    if (usage == null || held == null) {
      return usage;
    }
    Map<Slot, Map<Integer, Long>> sums = new HashMap<>();
    for (Amount each : held.amounts) {
      sums.computeIfAbsent(each.slot, any -> new HashMap<>())
          .merge(each.resource, each.amount, ResourceAmounts::add);
    }
    List<Amount> more = new ArrayList<>();
    for (Amount each : usage.amounts) {
      long other = sums.getOrDefault(each.slot, Map.of()).getOrDefault(each.resource, 0L);
      if (each.amount > other) {
        more.add(new Amount(each.slot, each.resource, each.amount - other));
      }
    }
    return more.isEmpty() && usage.groups.isEmpty() ? null : usage.with(more);
  }

  /** Whether some of it is in one of these domains. */
  boolean isIn(Set<Slot.Key> domains) {
    for (Amount each : amounts) {
      if (domains.contains(each.slot.key)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Counts the usage for the current search; {@link #forget} must undo this.
   *
   * @param empty whether the search ignores what Workloads use
   */
  public void assume(boolean empty) {
    change(empty, 1);
  }

  /** Undoes {@link #assume}. */
  public void forget(boolean empty) {
    change(empty, -1);
  }

  private void change(boolean empty, int sign) {
    if (spreadGroups != null && sign > 0) {
      spreadGroups.assume(groups);
    } else if (spreadGroups != null) {
      spreadGroups.forget(groups);
    }
    for (Amount each : amounts) {
      if (empty) {
        each.slot.addCapacity(each.resource, -sign * each.amount);
      } else {
        each.slot.add(each.resource, sign * each.amount);
      }
    }
  }
}
