package dev.sluice.checks.provisioning;

import dev.sluice.api.NameHash;

/** Names of ProvisioningRequests and PodTemplates (docs/provisioning.md#what-is-created). */
final class RequestNames {

  private static final int LONGEST = 247;
  private static final int HASH = 5;

  private RequestNames() {}

  /**
   * The name of a request.
   *
   * @param attempt 1 for the first
   */
  static String request(String workload, String check, int attempt) {
    return cut(workload + "-" + check + "-" + attempt);
  }

  /** The name of the PodTemplate of a pod set. */
  static String template(String request, String podSet) {
    return cut("ppt-" + request + "-" + podSet);
  }

  /** The name of an object that asks for nodes of a pod set in an attempt. */
  static String holder(String request, String podSet, String suffix) {
    return cut(request + "-" + podSet + suffix);
  }

  private static String cut(String name) {
    return name.length() <= LONGEST
        ? name
        : name.substring(0, LONGEST) + "-" + NameHash.sha1(name).substring(0, HASH);
  }
}
