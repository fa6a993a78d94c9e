package dev.sluice.kube.events;

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
    String apiVersion, String kind, String namespace, String name, String uid) {}
