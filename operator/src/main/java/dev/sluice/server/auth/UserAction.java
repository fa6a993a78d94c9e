package dev.sluice.server.auth;

/** What a user asks for, as an authorizer of the cluster understands it. */
public sealed interface UserAction {

  /** The verb, such as {@code get}. */
  String verb();

  /** Something about a path that is not one of resources. */
  record OnPath(String verb, String path) implements UserAction {}

  /**
   * Something about a resource.
   *
   * @param namespace empty for resources of the cluster
   * @param subresource empty for the resource itself
   */
  record OnResource(
      String verb,
      String group,
      String version,
      String resource,
      String subresource,
      String namespace,
      String name)
      implements UserAction {}
}
