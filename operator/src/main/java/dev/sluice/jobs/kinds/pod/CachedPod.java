package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.policy.CachedJob;
import java.time.Instant;
import java.util.Optional;

/**
 * What is kept of a pod.
 *
 * @param job the pod as a job of its own; its text is there only while it is gated
 * @param group the group that it names, if it names one
 * @param role the pod set of the group that it belongs to
 * @param phase how far it is
 * @param gated whether it waits for its admission
 * @param scheduled whether a node is chosen for it
 * @param lastActive when it last did anything that shows in its status; not before its creation
 */
public record CachedPod(
    CachedJob job,
    Optional<Group> group,
    String role,
    Phase phase,
    boolean gated,
    boolean scheduled,
    Instant lastActive) {

  /** How far a pod is. */
  public enum Phase {
    PENDING,
    RUNNING,
    SUCCEEDED,
    FAILED
  }

  /**
   * What a pod says of its group.
   *
   * @param name the group's name, which is that of its Workload
   * @param totalCount how many pods the group has; 0 when the pod doesn't say it
   * @param fastAdmission whether the Workload is made when the first pod is there
   * @param serving whether the group serves, so that it has no end
   * @param retriable whether the group waits for another pod when one fails
   */
  public record Group(
      String name, int totalCount, boolean fastAdmission, boolean serving, boolean retriable) {}

  /**
   * The same pod, whose prebuilt Workload is named by label; one that another object makes is named
   * by the operator, in the way that was configured then.
   */
  CachedPod namedByLabel() {
    return job.annotations().containsKey(KueueConstants.POD_SUSPENDING_PARENT)
        ? this
        : new CachedPod(job.namedByLabel(), group, role, phase, gated, scheduled, lastActive);
  }

  /** Its name. */
  public String name() {
    return job.ref().name();
  }

  /** Its namespace. */
  public String namespace() {
    return job.ref().namespace();
  }

  /** Whether it has come to its end. */
  public boolean ended() {
    return phase == Phase.SUCCEEDED || phase == Phase.FAILED;
  }

  /** Whether nobody who decides could tell it from another view of the same pod. */
  boolean looksLike(CachedPod other) {
    return group.equals(other.group)
        && role.equals(other.role)
        && phase == other.phase
        && gated == other.gated
        && scheduled == other.scheduled
        && job.deletionTime().equals(other.job.deletionTime())
        && job.finalizers().equals(other.job.finalizers())
        && job.state().equals(other.job.state())
        && job.labels().equals(other.job.labels())
        && job.annotations().equals(other.job.annotations())
        && job.podSets().equals(other.job.podSets());
  }
}
