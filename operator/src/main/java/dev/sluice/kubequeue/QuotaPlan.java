package dev.sluice.kubequeue;

import dev.sluice.kubequeue.PlannedObject.ObjectId;
import java.util.List;

/**
 * What has to be.
 *
 * @param objects as they have to be, in the order in which they are made
 * @param removed objects that have to go, in the order in which they go
 * @param waiting whether an object goes only when it isn't in use any more
 * @param taken what is said of names that others use
 */
public record QuotaPlan(
    List<PlannedObject> objects, List<ObjectId> removed, boolean waiting, List<TakenName> taken) {

  /**
   * A name that is used by an object that wasn't made from a quota.
   *
   * @param source the quota's source
   * @param note what is said, one sentence
   */
  public record TakenName(QuotaSource source, String note) {}
}
