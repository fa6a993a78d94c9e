package dev.sluice.jobs;

/**
 * Knows what the controllers of Kubernetes itself create, so that an object isn't taken for a part
 * of a job because its controller owner reference says so.
 */
public final class ControllerKinds {

  private static final String POD = "Pod";

  private ControllerKinds() {}

  /**
   * Whether a controller of the owner's kind may have created an object. A Pod creates nothing, and
   * a Job or a kind of group {@code apps} creates no jobs but Pods. Of other kinds nothing is
   * known.
   *
   * @param apiVersion the API version that the owner reference names
   * @param kind the kind that the owner reference names
   * @param dependent the kind of the object that has the reference
   */
  public static boolean mayCreate(String apiVersion, String kind, String dependent) {
    if (!apiVersion.contains("/")) {
      return !kind.equals(POD);
    }
    boolean onlyPods =
        (apiVersion.startsWith("batch/") && kind.equals("Job")) || apiVersion.startsWith("apps/");
    return !onlyPods || dependent.equals(POD);
  }
}
