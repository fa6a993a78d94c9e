package dev.sluice.jobs.policy;

import dev.sluice.api.NameHash;
import java.util.Locale;

/**
 * Names of the Workloads that are made for jobs (docs/workload-semantics.md#creation-of-workloads).
 */
public final class WorkloadNames {

  /** The longest name of an object. */
  public static final int LONGEST = 253;

  /** The longest name with the gate ShortWorkloadNames. */
  public static final int SHORT = 63;

  private static final int HASH = 5;

  private WorkloadNames() {}

  /**
   * The name of a job's Workload: kind and name, cut to size, and a hash that tells namesakes
   * apart.
   *
   * @param group the kind's API group; empty for the core group
   * @param extra what tells several Workloads of one job apart; empty when it has only one
   * @param longest how long the name may become
   */
  public static String of(
      String kind, String group, String jobName, String jobUid, String extra, int longest) {
    String hashed = kind + "\n" + group + "\n" + jobName + "\n" + jobUid;
    if (!extra.isEmpty()) {
      hashed += "\n" + extra;
    }
    String readable = kind.toLowerCase(Locale.ROOT) + "-" + jobName;
    int room = longest - HASH - 1;
    return readable.substring(0, Math.min(room, readable.length()))
        + "-"
        + NameHash.sha1(hashed).substring(0, HASH);
  }
}
