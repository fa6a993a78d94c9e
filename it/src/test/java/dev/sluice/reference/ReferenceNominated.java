package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.reference.ReferenceAssigner.Mode;
import dev.sluice.reference.ReferenceAssigner.Result;
import dev.sluice.reference.ReferencePreemption.Victim;
import java.util.List;
import java.util.Optional;

/**
 * A head, and what came out for it when it was looked at.
 *
 * @param limit what may be used of nodes besides, if its places are sure only then
 * @param uses what was used of nodes besides
 */
record ReferenceNominated(
    ReferenceEntry entry,
    ClusterQueueSpec queue,
    Result result,
    List<Victim> victims,
    Optional<List<ReferenceNodes.Use>> limit,
    List<ReferenceNodes.Use> uses) {

  /** It fits only when it does so with the fewest pods. */
  ReferenceNominated notEven(Result least) {
    return new ReferenceNominated(
        entry, queue, result.asFarAs(least.lacks(), least.competing()), victims, limit, uses);
  }

  /** Whether it doesn't fit, not even if others went. */
  boolean inVain() {
    return result.mode() != Mode.FIT && victims.isEmpty();
  }
}
