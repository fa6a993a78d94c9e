package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The writes that a plan needs now. Quota is taken away, and that was seen, before any is given to
 * others: the scheduler learns of queues and of Cohorts by separate watches, in any order. What
 * holds quota is never in a Cohort that nobody knows (yet, or any more), because its usage would
 * not count in the tree, and others would get the quota that it uses: an object moves when the
 * Cohort was seen, and a Cohort goes when everything was seen to have left.
 *
 * @param reductions what takes quota away, and gives none
 * @param others what else is written; nothing as long as there are reductions
 * @param removed what is deleted at the end
 * @param waiting whether there is more to do when these writes, or those of others, were seen
 */
record PlanSteps(
    List<PlannedObject> reductions,
    List<PlannedObject> others,
    List<ObjectId> removed,
    boolean waiting) {

  private static final List<String> PARENTS = List.of("cohortName", "parentName");

  /** The writes that make of these objects what is planned. */
  static PlanSteps of(QuotaPlan plan, Map<ObjectId, ExistingObject> existing) {
    List<PlannedObject> reductions = new ArrayList<>();
    List<PlannedObject> others = new ArrayList<>();
    boolean waiting = false;
    for (PlannedObject planned : plan.objects()) {
      ExistingObject before = existing.get(planned.id());
      if (before == null) {
        others.add(planned);
        continue;
      }
      boolean known = isParentKnown(planned, existing);
      waiting |= !known || before.leaving();
      PlannedObject object = known ? planned : whereItWas(planned, before);
      if (before.leaving() || !PlanDifference.differs(object, before)) {
        continue;
      }
      if (PlanDifference.reduces(object, before)) {
        reductions.add(PlanDifference.reduced(object, before));
      } else {
        others.add(object);
      }
    }
    if (!reductions.isEmpty()) {
      return new PlanSteps(reductions, List.of(), List.of(), true);
    }
    Set<String> parents = new HashSet<>();
    existing.values().forEach(each -> parents.add(parent(each.spec())));
    List<ObjectId> removed =
        plan.removed().stream()
            .filter(each -> each.kind() != ObjectKind.COHORT || !parents.contains(each.name()))
            .toList();
    return new PlanSteps(
        reductions, others, removed, waiting || removed.size() < plan.removed().size());
  }

  private static boolean isParentKnown(
      PlannedObject planned, Map<ObjectId, ExistingObject> existing) {
    String parent = parent(planned.spec());
    ExistingObject cohort = existing.get(new ObjectId(ObjectKind.COHORT, "", parent));
    return parent.isEmpty() || (cohort != null && !cohort.leaving());
  }

  private static String parent(JsonNode spec) {
    return PARENTS.stream()
        .map(field -> spec.path(field).asText())
        .filter(name -> !name.isEmpty())
        .findFirst()
        .orElse("");
  }

  /** The planned object in the Cohort in which it is. */
  private static PlannedObject whereItWas(PlannedObject planned, ExistingObject before) {
    ObjectNode spec = planned.spec().deepCopy();
    for (String field : PARENTS) {
      spec.remove(field);
      if (!before.spec().path(field).asText().isEmpty()) {
        spec.set(field, before.spec().get(field));
      }
    }
    return new PlannedObject(planned.id(), planned.annotations(), spec);
  }
}
