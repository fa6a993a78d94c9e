package dev.sluice.kubequeue;

import dev.sluice.kubequeue.PlannedObject.ObjectId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The writes that a plan needs, in their order: quota is taken away before it is given to others.
 *
 * @param reductions what takes quota away, and gives none
 * @param others what is written when all of it is taken away
 * @param waiting whether an object has to go first, before one of its name can be made
 */
record PlanSteps(List<PlannedObject> reductions, List<PlannedObject> others, boolean waiting) {

  /** The writes that make of these objects what is planned. */
  static PlanSteps of(List<PlannedObject> planned, Map<ObjectId, ExistingObject> existing) {
    List<PlannedObject> reductions = new ArrayList<>();
    List<PlannedObject> others = new ArrayList<>();
    boolean waiting = false;
    for (PlannedObject object : planned) {
      ExistingObject before = existing.get(object.id());
      if (before == null) {
        others.add(object);
      } else if (before.leaving()) {
        waiting = true;
      } else if (PlanDifference.differs(object, before)) {
        if (PlanDifference.reduces(object, before)) {
          PlannedObject reduced = PlanDifference.reduced(object, before);
          reductions.add(reduced);
          if (!reduced.equals(object)) {
            others.add(object);
          }
        } else {
          others.add(object);
        }
      }
    }
    return new PlanSteps(reductions, others, waiting);
  }
}
