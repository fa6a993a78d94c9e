package dev.sluice.jobs.kind;

import java.util.ArrayList;
import java.util.List;

/**
 * Access to one resource that the operator's role grants.
 *
 * @param group the API group; empty for the core group
 * @param resource the plural name, with a subresource after a slash
 * @param verbs the verbs of the Kubernetes API, in alphabetical order
 */
public record RbacRule(String group, String resource, List<String> verbs) {

  /** Copies and sorts the verbs. */
  public RbacRule {
    verbs = verbs.stream().sorted().toList();
  }

  /** Access to the objects of a kind. */
  static RbacRule of(JobKind kind, String... verbs) {
    return new RbacRule(kind.group(), kind.plural(), List.of(verbs));
  }

  /** Access to a subresource of the objects of a kind. */
  static RbacRule ofSubresource(JobKind kind, String subresource, String... verbs) {
    return new RbacRule(kind.group(), kind.plural() + "/" + subresource, List.of(verbs));
  }

  /**
   * What a controller needs that reads, starts and stops the jobs of a kind. Updating the
   * finalizers is the right to make a Workload block the deletion of its owner.
   *
   * @param further verbs that the controller needs besides reading and patching
   */
  public static List<RbacRule> ofController(JobKind kind, String... further) {
    List<String> verbs = new ArrayList<>(List.of("get", "list", "patch", "watch"));
    verbs.addAll(List.of(further));
    return List.of(
        new RbacRule(kind.group(), kind.plural(), verbs),
        ofSubresource(kind, "status", "patch"),
        ofSubresource(kind, "finalizers", "update"));
  }

  /** The same for a kind whose status is never written, because its jobs aren't sent to workers. */
  public static List<RbacRule> ofControllerWithoutStatus(JobKind kind, String... further) {
    return ofController(kind, further).stream()
        .filter(rule -> !rule.resource().endsWith("/status"))
        .toList();
  }

  /** What it needs to watch the objects of a kind, and to read one. */
  public static List<RbacRule> ofWatch(JobKind kind) {
    return List.of(of(kind, "get", "list", "watch"));
  }
}
