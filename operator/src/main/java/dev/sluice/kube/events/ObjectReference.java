package dev.sluice.kube.events;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * The object that an event is about.
 *
 * @param apiVersion its API version, such as {@code kueue.x-k8s.io/v1beta2}
 * @param kind its kind
 * @param namespace its namespace; empty for objects of the whole cluster
 * @param name its name
 * @param uid its UID
 */
public record ObjectReference(
    String apiVersion, String kind, String namespace, String name, String uid) {

  /** Refers to this object. */
  public static ObjectReference of(HasMetadata object) {
    String namespace = object.getMetadata().getNamespace();
    return new ObjectReference(
        object.getApiVersion(),
        object.getKind(),
        namespace == null ? "" : namespace,
        object.getMetadata().getName(),
        object.getMetadata().getUid());
  }
}
