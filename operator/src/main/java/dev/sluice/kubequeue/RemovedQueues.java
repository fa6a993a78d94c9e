package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.SourceMark.Identity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What happens to objects whose quota is gone. Queues are held, so that nothing more begins in
 * them; what runs stays charged; they go when nothing is charged any more. While a held queue is in
 * use, it keeps that part of its quota that nobody else was given.
 */
final class RemovedQueues {

  private final Map<ObjectId, ExistingObject> existing;
  private final Set<String> readable;
  private final Set<ObjectId> planned;
  private final Function<Identity, Optional<String>> livingCohort;
  private final List<PlannedObject> held = new ArrayList<>();
  private final List<ObjectId> removed = new ArrayList<>();
  private final Map<String, List<ExistingObject>> heirs = new TreeMap<>();
  private boolean waiting;

  /**
   * Nothing is planned yet.
   *
   * @param readable kinds of sources that were read; nothing is removed from others
   * @param planned objects that stay
   * @param livingCohort the Cohort into which a queue goes whose own quota is gone
   */
  RemovedQueues(
      Map<ObjectId, ExistingObject> existing,
      Set<String> readable,
      Set<ObjectId> planned,
      Function<Identity, Optional<String>> livingCohort) {
    this.existing = existing;
    this.readable = readable;
    this.planned = planned;
    this.livingCohort = livingCohort;
  }

  /** Decides about every object whose quota is gone. */
  void plan() {
    Set<String> needed = new HashSet<>();
    boolean flavorNeeded = false;
    List<ExistingObject> sorted =
        existing.values().stream()
            .sorted(
                Comparator.comparing((ExistingObject each) -> each.id().kind())
                    .reversed()
                    .thenComparing(each -> each.id().toString()))
            .toList();
    for (ExistingObject object : sorted) {
      Optional<SourceMark> mark = object.mark();
      if (mark.isEmpty() || planned.contains(object.id())) {
        continue;
      }
      if (!isReadable(mark.get())) {
        needed.add(object.spec().path("cohortName").asText());
        flavorNeeded = true;
        continue;
      }
      switch (object.id().kind()) {
        case LOCAL_QUEUE -> holdOrRemove(object);
        case CLUSTER_QUEUE -> {
          boolean stays = holdOrRemove(object);
          flavorNeeded |= stays;
          if (stays) {
            needed.add(object.spec().path("cohortName").asText());
          }
        }
        case QUEUE -> removed.add(object.id());
        case COHORT -> {}
        case FLAVOR -> {
          if (flavorNeeded || object.leaving()) {
            waiting = true;
          } else {
            removed.add(object.id());
          }
        }
      }
    }
    sorted.stream()
        .filter(each -> each.id().kind() == ObjectKind.COHORT)
        .filter(each -> isRemovable(each, needed))
        .forEach(each -> removed.add(each.id()));
  }

  private boolean isReadable(SourceMark mark) {
    return readable.contains(mark.kind()) || mark.kind().equals(QuotaPlanner.FLAVOR_KIND);
  }

  private boolean isRemovable(ExistingObject cohort, Set<String> needed) {
    boolean ours =
        cohort.mark().filter(this::isReadable).isPresent() && !planned.contains(cohort.id());
    if (ours && !hasNothing(cohort.spec()) && isShared(cohort)) {
      giveBack(cohort);
      return false;
    }
    if (ours && isNeeded(cohort.id().name(), needed)) {
      waiting = true;
      return false;
    }
    return ours;
  }

  /** Whether others of its tree are there, which get the quota. */
  private boolean isShared(ExistingObject cohort) {
    return cohort.mark().flatMap(mark -> livingCohort.apply(mark.identity())).isPresent();
  }

  /** Others have the quota of a Cohort whose own is gone, as long as queues are in it, too. */
  private void giveBack(ExistingObject cohort) {
    waiting = true;
    if (cohort.leaving()) {
      return;
    }
    ObjectNode spec = cohort.spec().deepCopy();
    quotas(spec)
        .values()
        .forEach(
            quota -> {
              quota.put("nominalQuota", "0");
              quota.remove(List.of("borrowingLimit", "lendingLimit"));
            });
    Map<String, String> annotations = new TreeMap<>(cohort.annotations());
    annotations.keySet().retainAll(QueueManifests.ANNOTATIONS);
    annotations.put(SourceMark.REMOVED, "true");
    held.add(new PlannedObject(cohort.id(), annotations, spec));
  }

  /** Whether a queue that stays is in this Cohort or in one below it. */
  private boolean isNeeded(String cohort, Set<String> needed) {
    Set<String> seen = new HashSet<>();
    for (String each : needed) {
      String at = each;
      while (!at.isEmpty() && seen.add(at)) {
        if (at.equals(cohort)) {
          return true;
        }
        ExistingObject above = existing.get(new ObjectId(ObjectKind.COHORT, "", at));
        at = above == null ? "" : above.spec().path("parentName").asText();
      }
    }
    return false;
  }

  /** True if the object stays for now. */
  private boolean holdOrRemove(ExistingObject object) {
    if (object.leaving()) {
      waiting = true;
      return true;
    }
    Optional<String> cohort =
        object.id().kind() == ObjectKind.CLUSTER_QUEUE
            ? object.mark().flatMap(mark -> livingCohort.apply(mark.identity()))
            : Optional.empty();
    boolean onHold =
        object.spec().path("stopPolicy").asText().equals("Hold")
            && object.annotations().containsKey(SourceMark.REMOVED);
    if (onHold && !object.inUse() && (cohort.isEmpty() || hasNothing(object.spec()))) {
      removed.add(object.id());
      return false;
    }
    waiting = true;
    if (cohort.isPresent()) {
      heirs.computeIfAbsent(cohort.get(), any -> new ArrayList<>()).add(object);
    } else {
      held.add(held(object, held(object)));
    }
    return true;
  }

  /** Whether nothing is given when the queue goes: its quota was given back before. */
  private static boolean hasNothing(JsonNode spec) {
    return spec.isObject()
        && quotas((ObjectNode) spec).entrySet().stream()
            .allMatch(each -> amount(each.getKey(), each.getValue()) == 0);
  }

  /** The spec of an object on hold, otherwise as it is. */
  private static ObjectNode held(ExistingObject object) {
    ObjectNode spec =
        object.spec().isObject() ? object.spec().deepCopy() : JsonNodeFactory.instance.objectNode();
    return spec.put("stopPolicy", "Hold");
  }

  private static PlannedObject held(ExistingObject object, ObjectNode spec) {
    Map<String, String> annotations = new TreeMap<>(object.annotations());
    annotations.keySet().retainAll(QueueManifests.ANNOTATIONS);
    annotations.put(SourceMark.REMOVED, "true");
    return new PlannedObject(object.id(), annotations, spec);
  }

  /**
   * The planned object; if it is a Cohort into which held queues go, without the quota that these
   * keep.
   */
  PlannedObject withLess(PlannedObject object) {
    List<ExistingObject> queues = heirs.get(object.id().name());
    if (object.id().kind() != ObjectKind.COHORT || queues == null) {
      return object;
    }
    ObjectNode spec = object.spec().deepCopy();
    Map<String, ObjectNode> quotas = quotas(spec);
    for (ExistingObject queue : queues) {
      ObjectNode kept = held(queue).put("cohortName", object.id().name());
      quotas(kept)
          .forEach((resource, quota) -> keep(resource, quota, quotas.get(resource), queue.inUse()));
      held.add(held(queue, kept));
    }
    return new PlannedObject(object.id(), object.annotations(), spec);
  }

  /** Takes from the Cohort's own quota what the queue keeps of its own while it is in use. */
  private static void keep(
      String resource, ObjectNode quota, @Nullable ObjectNode cohort, boolean inUse) {
    long had = amount(resource, quota);
    long has = cohort == null ? 0 : amount(resource, cohort);
    long kept = inUse ? Math.min(had, has) : 0;
    quota.put("nominalQuota", Quantities.format(resource, kept));
    quota.remove(List.of("borrowingLimit", "lendingLimit"));
    if (cohort != null) {
      cohort.put("nominalQuota", Quantities.format(resource, has - kept));
    }
  }

  private static long amount(String resource, JsonNode quota) {
    try {
      return Quantities.amount(resource, quota.path("nominalQuota").asText());
    } catch (IllegalArgumentException e) {
      return 0;
    }
  }

  private static Map<String, ObjectNode> quotas(ObjectNode spec) {
    Map<String, ObjectNode> result = new HashMap<>();
    for (JsonNode group : spec.path("resourceGroups")) {
      for (JsonNode flavor : group.path("flavors")) {
        for (JsonNode quota : flavor.path("resources")) {
          if (quota instanceof ObjectNode object) {
            result.putIfAbsent(quota.path("name").asText(), object);
          }
        }
      }
    }
    return result;
  }

  /**
   * Objects that stay on hold; complete when {@link #withLess} was asked of all that is planned.
   */
  List<PlannedObject> held() {
    return held;
  }

  /** Objects that go. */
  List<ObjectId> removed() {
    return removed;
  }

  /** Whether an object goes later, when it isn't in use any more. */
  boolean waiting() {
    return waiting;
  }
}
