package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import java.util.Map;
import java.util.Optional;

/**
 * An object as it is.
 *
 * @param id which object
 * @param uid its UID
 * @param annotations all of its annotations
 * @param spec its spec, with defaults
 * @param inUse whether Workloads need it: of a ClusterQueue, those that hold its quota; of a
 *     LocalQueue, all that have not finished
 * @param leaving whether it is being deleted
 */
public record ExistingObject(
    ObjectId id,
    String uid,
    Map<String, String> annotations,
    JsonNode spec,
    boolean inUse,
    boolean leaving) {

  /** From which quota it was made; empty if it wasn't. */
  Optional<SourceMark> mark() {
    return SourceMark.of(annotations);
  }
}
