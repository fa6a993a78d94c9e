package dev.sluice.kube.client;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * The path of one object at an API server.
 *
 * @param apiVersion group and version, or the version alone for the core group
 * @param namespace empty for objects of the cluster
 * @param plural the resource, as in {@code jobs}
 */
public record ObjectPath(String apiVersion, String namespace, String plural, String name) {

  /** The path of an object that a client has read. */
  public static ObjectPath of(HasMetadata object) {
    String namespace = object.getMetadata().getNamespace();
    return new ObjectPath(
        object.getApiVersion(),
        namespace == null ? "" : namespace,
        object.getPlural(),
        object.getMetadata().getName());
  }

  /** The path of the collection that the object is in; begins with a slash. */
  public String collection() {
    return (apiVersion.contains("/") ? "/apis/" : "/api/")
        + apiVersion
        + (namespace.isEmpty() ? "" : "/namespaces/" + namespace)
        + "/"
        + plural;
  }

  /** The path of the object; begins with a slash. */
  public String object() {
    return collection() + "/" + name;
  }

  /** The path of the status of the object. */
  public String status() {
    return object() + "/status";
  }

  /** The object for people: its namespace and name. */
  @Override
  public String toString() {
    return plural + " " + (namespace.isEmpty() ? "" : namespace + "/") + name;
  }
}
