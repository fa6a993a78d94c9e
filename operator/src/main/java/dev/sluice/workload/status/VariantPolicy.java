package dev.sluice.workload.status;

import dev.sluice.api.v1beta2.ClusterQueue.ConcurrentAdmissionMode;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What becomes of the variants of one parent: which are made and deleted, which are active, which
 * preemption gate opens, and which variant runs (docs/decisions/0017-concurrent-admission.md). All
 * variants of a parent are decided on together, from what is stored, so that a decision that is
 * made again after a crash is the same one. Linear in the number of variants and flavors, apart
 * from sorting them.
 */
public final class VariantPolicy {

  /** The time between the opening of two preemption gates of one parent's variants. */
  public static final Duration BETWEEN_GATES = Duration.ofMinutes(5);

  private final List<String> flavors;
  private final Map<String, Integer> places = new HashMap<>();
  private final ConcurrentAdmissionMode mode;
  private final int lastAcceptable;

  /**
   * A variant as it is stored.
   *
   * @param name the name of its Workload, which is unique among the variants of a parent
   * @param flavor the flavor it may use; empty or unknown in one that is to be deleted
   * @param active {@code spec.active}
   * @param admittedAt since when it is admitted; empty if it isn't
   * @param gate what is known about its preemption gate
   */
  public record Variant(
      String name, String flavor, boolean active, Optional<Instant> admittedAt, Gate gate) {}

  /**
   * The preemption gate of a variant.
   *
   * @param evaluated whether the scheduler has ever looked at the variant
   * @param blocked whether the variant would preempt if the gate were open
   * @param openedAt when the gate was opened; empty while it is closed
   */
  public record Gate(boolean evaluated, boolean blocked, Optional<Instant> openedAt) {

    /** The gate of a variant that nobody has looked at. */
    public static final Gate NEW = new Gate(false, false, Optional.empty());
  }

  /**
   * What has to be written.
   *
   * @param missing flavors without a variant, in flavor order
   * @param obsolete names of variants to delete, in the order they were given
   * @param activity {@code spec.active} by name of the variants where it has to change, in flavor
   *     order
   * @param winner name of the variant whose admission the parent has
   * @param opened name of the variant whose preemption gate opens now
   * @param again when to decide again although nothing changed: a gate waits for the one before
   */
  public record Changes(
      List<String> missing,
      List<String> obsolete,
      Map<String, Boolean> activity,
      Optional<String> winner,
      Optional<String> opened,
      Optional<Instant> again) {}

  /**
   * The rules of a ClusterQueue.
   *
   * @param flavors the flavors of its only resource group, the preferred one first
   * @param mode whether an admitted Workload moves to a preferred flavor
   * @param lastAcceptable the last flavor that it moves to; empty if it moves to any. One that the
   *     queue doesn't have limits nothing
   */
  public VariantPolicy(
      List<String> flavors, ConcurrentAdmissionMode mode, Optional<String> lastAcceptable) {
    this.flavors = List.copyOf(flavors);
    this.mode = mode;
    for (int i = 0; i < flavors.size(); i++) {
      places.putIfAbsent(flavors.get(i), i);
    }
    this.lastAcceptable = lastAcceptable.map(places::get).orElse(Integer.MAX_VALUE);
  }

  /** The flavors, the preferred one first. */
  public List<String> flavors() {
    return flavors;
  }

  /** Whether the ClusterQueue has a flavor. */
  public boolean has(String flavor) {
    return places.containsKey(flavor);
  }

  /** What the engine is told of a variant with a flavor. */
  public PendingWorkload.Variant nomination(String flavor) {
    int place = place(flavor);
    return new PendingWorkload.Variant(
        place, mode == ConcurrentAdmissionMode.TRY_PREFERRED_FLAVORS && place <= lastAcceptable);
  }

  /** What has to be written so that the variants of a parent are as the rules say. */
  public Changes decide(List<Variant> variants, Instant now) {
    List<String> obsolete = new ArrayList<>();
    List<Variant> kept = kept(variants, obsolete);
    Optional<Variant> winner = winner(kept);
    Set<String> present = new HashSet<>();
    Map<String, Boolean> activity = new LinkedHashMap<>();
    for (Variant variant : kept) {
      present.add(variant.flavor);
      boolean active = isActive(variant, winner);
      if (active != variant.active) {
        activity.put(variant.name, active);
      }
    }
    Optional<Variant> next = nextGate(kept, winner);
    Optional<Instant> due = next.map(variant -> earliest(kept, now));
    boolean open = due.isPresent() && !due.get().isAfter(now);
    return new Changes(
        flavors.stream().distinct().filter(flavor -> !present.contains(flavor)).toList(),
        obsolete,
        activity,
        winner.map(Variant::name),
        open ? next.map(Variant::name) : Optional.empty(),
        open ? Optional.empty() : due);
  }

  /**
   * Whether a variant that fits evicts the one that is admitted (reason {@code FlavorMigration}).
   *
   * @param from the flavor of the admitted variant
   * @param to the flavor of the variant that fits
   */
  public boolean migrates(String from, String to) {
    int target = place(to);
    return mode == ConcurrentAdmissionMode.TRY_PREFERRED_FLAVORS
        && target < place(from)
        && target <= lastAcceptable;
  }

  /** One variant per flavor, in flavor order; an admitted one is kept before others. */
  private List<Variant> kept(List<Variant> variants, List<String> obsolete) {
    Map<String, Variant> byFlavor = new HashMap<>();
    for (Variant variant : variants) {
      if (places.containsKey(variant.flavor)) {
        byFlavor.merge(variant.flavor, variant, VariantPolicy::better);
      }
    }
    List<Variant> kept = new ArrayList<>(byFlavor.values());
    kept.sort(Comparator.comparingInt(variant -> place(variant.flavor)));
    Set<Variant> chosen = new HashSet<>(kept);
    for (Variant variant : variants) {
      if (!chosen.contains(variant)) {
        obsolete.add(variant.name);
      }
    }
    return kept;
  }

  /** Of two variants for the same flavor the one that is admitted longer, or named first. */
  private static Variant better(Variant one, Variant other) {
    Comparator<Variant> order =
        Comparator.<Variant, Instant>comparing(variant -> variant.admittedAt.orElse(Instant.MAX))
            .thenComparing(Variant::name);
    return order.compare(one, other) <= 0 ? one : other;
  }

  /**
   * The variant that may run: the first that was admitted. Another that is admitted as well (two
   * writes that crossed) is deactivated, or is more preferred and waits until the first is evicted.
   */
  private static Optional<Variant> winner(List<Variant> inOrder) {
    return inOrder.stream()
        .filter(variant -> variant.admittedAt.isPresent())
        .min(Comparator.comparing(variant -> variant.admittedAt.orElseThrow()));
  }

  private boolean isActive(Variant variant, Optional<Variant> winner) {
    return winner.isEmpty()
        || variant.equals(winner.get())
        || migrates(winner.get().flavor, variant.flavor);
  }

  /** The variant whose gate opens next: the first that is blocked, if all before were evaluated. */
  private Optional<Variant> nextGate(List<Variant> inOrder, Optional<Variant> winner) {
    for (Variant variant : inOrder) {
      if (!isActive(variant, winner) || variant.admittedAt.isPresent()) {
        continue;
      }
      if (!variant.gate.evaluated) {
        return Optional.empty();
      }
      if (variant.gate.blocked && variant.gate.openedAt.isEmpty()) {
        return Optional.of(variant);
      }
    }
    return Optional.empty();
  }

  /**
   * When the next gate may open. An opening in the future (another clock, or somebody's writing)
   * counts as now, so that it delays by no more than the rule says.
   */
  private static Instant earliest(List<Variant> variants, Instant now) {
    return variants.stream()
        .flatMap(variant -> variant.gate.openedAt.stream())
        .max(Comparator.naturalOrder())
        .map(opened -> (opened.isAfter(now) ? now : opened).plus(BETWEEN_GATES))
        .orElse(now);
  }

  private int place(String flavor) {
    return places.getOrDefault(flavor, Integer.MAX_VALUE);
  }
}
