package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.Gate;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.PreemptionGates;
import dev.sluice.workload.status.StatusPatch;
import dev.sluice.workload.status.StatusPatch.AdmissionPatches;
import dev.sluice.workload.status.StatusPatch.NodeFailures;
import dev.sluice.workload.status.VariantPolicy;
import dev.sluice.workload.status.VariantPolicy.Changes;
import dev.sluice.workload.status.Variants;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Decides what is written of a parent and its variants (docs/concurrent-admission.md): a pure
 * function of what is stored. It returns at most one write; the next one is decided when that is
 * read back. A parent gets its admission only after the variant's was read back, and a variant
 * loses its quota only after the parent's was.
 */
final class FamilyPolicy {

  private static final String TARGET = "DeactivationTarget";
  private static final String FOR_GOOD = Evictions.DEACTIVATED + "DueTo";
  private static final String NO_VARIANT = "No variant of the workload is admitted";

  /** Reasons of evictions after which the variant's own life cycle puts it back into the queue. */
  private static final Set<String> KEPT_OUT =
      Set.of("PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped", "LocalQueueStopped");

  private final CachedWorkload parent;
  private final List<CachedWorkload> variants;
  private final boolean readiness;
  private final Instant now;

  /** One write, and an event about the parent after it. */
  sealed interface Write {

    /** Patches a status. */
    record Status(CachedWorkload workload, JsonNode status, Optional<EventSpec> event)
        implements Write {}

    /** Patches metadata or spec. */
    record Whole(CachedWorkload workload, JsonNode patch, Optional<EventSpec> event)
        implements Write {}

    /** Makes the variant for a flavor. */
    record Create(CachedWorkload parent, String flavor) implements Write {}

    /** Deletes a variant. */
    record Delete(CachedWorkload workload) implements Write {}
  }

  /**
   * What to do.
   *
   * @param write the write; empty if none is needed
   * @param again when to decide again although nothing changed
   */
  record Result(Optional<Write> write, Optional<Instant> again) {

    static final Result NOTHING = new Result(Optional.empty(), Optional.empty());

    static Result of(Write write) {
      return new Result(Optional.of(write), Optional.empty());
    }
  }

  private FamilyPolicy(
      CachedWorkload parent, List<CachedWorkload> variants, boolean readiness, Instant now) {
    this.parent = parent;
    this.variants = variants;
    this.readiness = readiness;
    this.now = now;
  }

  /**
   * Decides about a family.
   *
   * @param parent a Workload that isn't a variant
   * @param variants the variants that it controls
   * @param queue what its ClusterQueue says; empty while that isn't known
   * @param readiness whether admission waits for ready pods
   */
  static Result decide(
      CachedWorkload parent,
      List<CachedWorkload> variants,
      Optional<Optional<VariantPolicy>> queue,
      boolean readiness,
      Instant now) {
    List<CachedWorkload> present = variants.stream().filter(each -> !each.deleting()).toList();
    if (parent.deleting()) {
      return leaving(parent, present);
    }
    if (queue.isEmpty()) {
      return Result.NOTHING;
    }
    FamilyPolicy family = new FamilyPolicy(parent, present, readiness, now);
    if (!Variants.isParent(parent)) {
      return family.unlabelled(queue.get().isPresent());
    }
    if (parent.finished()) {
      return family.finished();
    }
    return queue.get().map(family::labelled).orElseGet(family::withoutPolicy);
  }

  /**
   * A parent that is being deleted: once its job has stopped, its variants go before it. Where they
   * are to be orphaned, it would wait for that for ever, since nobody may take its name off them.
   */
  private static Result leaving(CachedWorkload parent, List<CachedWorkload> variants) {
    return parent.finalized() || variants.isEmpty()
        ? Result.NOTHING
        : Result.of(new Write.Delete(variants.getFirst()));
  }

  private Result unlabelled(boolean policy) {
    return policy && !parent.finished() && !parent.quotaReserved() && Variants.mayBeParent(parent)
        ? Result.of(label(true))
        : Result.NOTHING;
  }

  private Write label(boolean set) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode labels = patch.putObject("metadata").putObject("labels");
    if (set) {
      labels.put(KueueConstants.CONCURRENT_ADMISSION_PARENT, "true");
    } else {
      labels.putNull(KueueConstants.CONCURRENT_ADMISSION_PARENT);
    }
    return new Write.Whole(parent, patch, Optional.empty());
  }

  private Result finished() {
    Condition finished = parent.status().condition("Finished").orElseThrow();
    for (CachedWorkload variant : variants) {
      if (!variant.finished()) {
        return status(
            variant,
            StatusPatch.of(variant, now)
                .condition("Finished", true, finished.reason(), finished.message()));
      }
    }
    return Result.NOTHING;
  }

  /** The queue has no policy (any more): the parent is queued itself when it has no quota. */
  private Result withoutPolicy() {
    Optional<Write> coherent = coherent(Optional.empty());
    if (coherent.isPresent()) {
      return Result.of(coherent.get());
    }
    if (parent.quotaReserved()) {
      return Result.NOTHING;
    }
    return Result.of(variants.isEmpty() ? label(false) : new Write.Delete(variants.getFirst()));
  }

  private Result labelled(VariantPolicy policy) {
    Changes changes =
        policy.decide(
            variants.stream()
                .map(
                    variant ->
                        Variants.isOf(variant, parent) ? described(variant) : foreign(variant))
                .toList(),
            now);
    Optional<CachedWorkload> winner = changes.winner().flatMap(this::named);
    Optional<Write> write =
        coherent(winner)
            .or(
                () ->
                    changes.obsolete().stream()
                        .findFirst()
                        .flatMap(this::named)
                        .map(Write.Delete::new))
            .or(
                () ->
                    changes.missing().stream()
                        .filter(flavor -> parent.spec().active())
                        .findFirst()
                        .map(flavor -> new Write.Create(parent, flavor)))
            .or(() -> activity(changes))
            .or(() -> changes.opened().flatMap(this::named).map(this::opened));
    return new Result(write, changes.again());
  }

  private Optional<CachedWorkload> named(String name) {
    return variants.stream().filter(each -> each.id().name().equals(name)).findFirst();
  }

  private static VariantPolicy.Variant described(CachedWorkload workload) {
    Optional<Condition> admitted =
        workload.quotaReserved() && !workload.finished()
            ? workload.status().trueCondition("Admitted")
            : Optional.empty();
    return new VariantPolicy.Variant(
        workload.id().name(),
        Variants.flavor(workload),
        workload.spec().active(),
        admitted.map(Condition::lastTransitionTime),
        new VariantPolicy.Gate(
            workload
                .status()
                .condition("QuotaReserved")
                .filter(condition -> !condition.reason().equals("PendingEvaluation"))
                .isPresent(),
            workload.status().isTrue(PreemptionGates.BLOCKED),
            workload.status().gates().stream()
                .filter(Gate::open)
                .filter(gate -> gate.name().equals(KueueConstants.CONCURRENT_ADMISSION_GATE))
                .map(Gate::lastTransitionTime)
                .findFirst()));
  }

  /** A variant that asks for something else than its parent: it is deleted, and made again. */
  private static VariantPolicy.Variant foreign(CachedWorkload workload) {
    return new VariantPolicy.Variant(
        workload.id().name(), "", false, Optional.empty(), VariantPolicy.Gate.NEW);
  }

  /** What keeps the quota of the parent and that of its variants together. */
  private Optional<Write> coherent(Optional<CachedWorkload> winner) {
    return parent.quotaReserved() ? running(winner) : waiting(winner);
  }

  private Optional<Write> running(Optional<CachedWorkload> winner) {
    Optional<CachedWorkload> holder =
        holding(variant -> Variants.isOf(variant, parent) && hasAdmissionOf(variant))
            .or(() -> winner);
    if (holder.isEmpty() || !hasAdmissionOf(holder.get())) {
      return parent.evicted()
          ? Optional.empty()
          : Optional.of(evict(parent, Variants.LOST, NO_VARIANT));
    }
    CachedWorkload variant = holder.get();
    Optional<CachedWorkload> second = holding(other -> !other.id().equals(variant.id()));
    if (second.isPresent()) {
      return Optional.of(
          second.get().evicted()
              ? dropped(second.get())
              : evict(second.get(), Variants.LOST, "Another variant of the workload runs"));
    }
    if (parent.spec().active() && isDeactivatedForGood(variant)) {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      patch.putObject("spec").put("active", false);
      return Optional.of(new Write.Whole(parent, patch, Optional.empty()));
    }
    if (variant.evicted() && !parent.evicted()) {
      return Optional.of(
          evict(parent, Variants.EVICTED, "Its variant was evicted: " + evictedFor(variant)));
    }
    if (parent.evicted() && !variant.evicted()) {
      return Optional.of(evictLikeParent(variant));
    }
    return replaced(variant).or(() -> podsReady(variant));
  }

  /**
   * Nodes fail under the pods, which are the parent's, and other ones are found for the variant,
   * which has the quota: it hears of the nodes, and the parent gets the places.
   */
  private Optional<Write> replaced(CachedWorkload workload) {
    Map<String, TopologyAssignment> places = places(workload);
    List<String> failed = parent.status().unhealthyNodes();
    List<String> known = workload.status().unhealthyNodes();
    if (parent.evicted()) {
      return Optional.empty();
    }
    if (!places.equals(places(parent))) {
      ObjectNode moved = NodeFailures.list(AdmissionPatches.placed(parent, places), known);
      return Optional.of(new Write.Status(parent, moved, Optional.empty()));
    }
    return failed.equals(known)
        ? Optional.empty()
        : Optional.of(
            new Write.Status(
                workload,
                NodeFailures.list(JsonNodeFactory.instance.objectNode(), failed),
                Optional.empty()));
  }

  private static Map<String, TopologyAssignment> places(CachedWorkload workload) {
    Map<String, TopologyAssignment> places = new HashMap<>();
    for (Assignment assignment : workload.assignments()) {
      assignment.topology().ifPresent(found -> places.put(assignment.name(), found));
    }
    return places;
  }

  /**
   * Whether a limit was exceeded, such as that of requeuing, or a check rejected it: the request
   * isn't tried again.
   */
  private static boolean isDeactivatedForGood(CachedWorkload workload) {
    return !workload.spec().active()
        && workload
            .status()
            .trueCondition("Evicted")
            .filter(evicted -> evicted.reason().startsWith(FOR_GOOD))
            .isPresent();
  }

  /** Whether it is deactivated for good, and the eviction that says so isn't written yet. */
  private static boolean isToBeDeactivated(CachedWorkload workload) {
    return !workload.spec().active() && workload.status().isTrue(TARGET);
  }

  private Optional<CachedWorkload> holding(Predicate<CachedWorkload> which) {
    return variants.stream()
        .filter(variant -> variant.quotaReserved() && !variant.finished())
        .filter(which)
        .findFirst();
  }

  private boolean hasAdmissionOf(CachedWorkload workload) {
    return workload.quotaReserved() && Variants.hasFlavorsOf(workload, parent);
  }

  private static String evictedFor(CachedWorkload workload) {
    return workload
        .status()
        .condition("Evicted")
        .map(condition -> condition.reason() + ": " + condition.message())
        .orElse("");
  }

  private Write evict(CachedWorkload workload, String reason, String message) {
    StatusPatch patch = StatusPatch.of(workload, now);
    Evictions.evict(patch, workload, now, reason, "", message);
    return new Write.Status(
        workload,
        patch.build(),
        Optional.of(new EventSpec(false, "EvictedDueTo" + reason, message)));
  }

  private Write evictLikeParent(CachedWorkload workload) {
    Condition evicted = parent.status().condition("Evicted").orElseThrow();
    StatusPatch patch = Evictions.evictLike(parent, StatusPatch.of(workload, now), workload, now);
    return new Write.Status(
        workload,
        patch.build(),
        Optional.of(new EventSpec(false, "EvictedDueTo" + evicted.reason(), evicted.message())));
  }

  private Optional<Write> podsReady(CachedWorkload workload) {
    return parent
        .status()
        .condition(PodsReady.TYPE)
        .map(
            ready ->
                StatusPatch.of(workload, now)
                    .condition(
                        PodsReady.TYPE,
                        ready.status().equals("True"),
                        ready.reason(),
                        ready.message()))
        .filter(patch -> !patch.isEmpty())
        .map(patch -> new Write.Status(workload, patch.build(), Optional.empty()));
  }

  /** The parent's job doesn't run: evicted variants lose their quota, the winner starts it. */
  private Optional<Write> waiting(Optional<CachedWorkload> winner) {
    Optional<CachedWorkload> evicted = holding(CachedWorkload::evicted);
    if (evicted.isPresent()) {
      return Optional.of(dropped(evicted.get()));
    }
    Optional<CachedWorkload> second =
        winner.flatMap(
            first -> holding(other -> !other.id().equals(first.id()) && other.admitted()));
    if (second.isPresent()) {
      return Optional.of(
          evict(second.get(), Variants.LOST, "Another variant of the workload runs"));
    }
    return winner
        .filter(variant -> parent.spec().active() && variant.spec().active())
        .map(
            variant ->
                new Write.Status(
                    parent,
                    AdmissionPatches.copied(parent, variant, readiness, now),
                    Optional.empty()));
  }

  private Write dropped(CachedWorkload workload) {
    Condition evicted = workload.status().condition("Evicted").orElseThrow();
    boolean requeued =
        !KEPT_OUT.contains(evicted.reason()) && !evicted.reason().startsWith(Evictions.DEACTIVATED);
    StatusPatch patch = Evictions.released(workload, evicted, requeued, now);
    return new Write.Status(workload, patch.build(), Optional.empty());
  }

  /**
   * Which variants are active. One that its own life cycle deactivated isn't tried again before
   * somebody has deactivated the parent and made it active again.
   */
  private Optional<Write> activity(Changes changes) {
    if (parent.spec().active()
        && !variants.isEmpty()
        && variants.stream().allMatch(FamilyPolicy::isDeactivatedForGood)) {
      return parent.status().isTrue(TARGET) ? Optional.empty() : Optional.of(deactivated());
    }
    for (CachedWorkload variant : variants) {
      if (isDeactivatedForGood(variant) && !parent.spec().active() && !variant.quotaReserved()) {
        return Optional.of(new Write.Delete(variant));
      }
      if (isDeactivatedForGood(variant) || isToBeDeactivated(variant)) {
        continue;
      }
      boolean wanted =
          parent.spec().active()
              && changes.activity().getOrDefault(variant.id().name(), variant.spec().active());
      if (wanted != variant.spec().active()) {
        ObjectNode patch = JsonNodeFactory.instance.objectNode();
        patch.putObject("spec").put("active", wanted);
        return Optional.of(
            new Write.Whole(
                variant,
                patch,
                Optional.of(about(variant, wanted ? "ActivatedVariant" : "DeactivatedVariant"))));
      }
    }
    return Optional.empty();
  }

  /** Asks for the parent to be deactivated, for the same reason as its variants. */
  private Write deactivated() {
    CachedWorkload variant = variants.getFirst();
    Condition evicted = variant.status().condition("Evicted").orElseThrow();
    String message =
        "None of its variants may run; that for flavor %s: %s"
            .formatted(Variants.flavor(variant), evicted.message());
    StatusPatch patch =
        StatusPatch.of(parent, now)
            .condition(TARGET, true, evicted.reason().substring(FOR_GOOD.length()), message);
    return new Write.Status(parent, patch.build(), Optional.empty());
  }

  private static EventSpec about(CachedWorkload workload, String reason) {
    return new EventSpec(
        false,
        reason,
        "Variant " + workload.id().name() + " for flavor " + Variants.flavor(workload));
  }

  private Write opened(CachedWorkload workload) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set(
        "preemptionGates",
        PreemptionGates.json(
            workload.status().gates().stream()
                .map(
                    gate ->
                        gate.name().equals(KueueConstants.CONCURRENT_ADMISSION_GATE)
                            ? new Gate(gate.name(), true, now.truncatedTo(ChronoUnit.SECONDS))
                            : gate)
                .toList()));
    return new Write.Status(
        workload, status, Optional.of(about(workload, "PreemptionUngatedVariant")));
  }

  private static Result status(CachedWorkload workload, StatusPatch patch) {
    return patch.isEmpty()
        ? Result.NOTHING
        : Result.of(new Write.Status(workload, patch.build(), Optional.empty()));
  }
}
