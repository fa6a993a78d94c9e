package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import java.util.Map;

/**
 * An object as it has to be.
 *
 * @param id which object
 * @param annotations all that it has of the keys in {@link QueueManifests#ANNOTATIONS}
 * @param spec the fields of its spec that matter
 */
public record PlannedObject(ObjectId id, Map<String, String> annotations, ObjectNode spec) {

  /**
   * Names an object.
   *
   * @param namespace empty for objects of the cluster
   */
  public record ObjectId(ObjectKind kind, String namespace, String name) {

    @Override
    public String toString() {
      return kind.kind() + " " + (namespace.isEmpty() ? "" : namespace + "/") + name;
    }
  }

  /** Keeps a copy of the map. */
  public PlannedObject {
    annotations = Map.copyOf(annotations);
  }
}
