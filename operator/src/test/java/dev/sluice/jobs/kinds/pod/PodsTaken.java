package dev.sluice.jobs.kinds.pod;

import dev.sluice.jobs.GivenCluster;
import java.util.List;

/** What is made of pods that come one by one, for tests of other rooms. */
public final class PodsTaken {

  private final PodIndex directory = new PodIndex();

  /** A pod comes, or changes: it, and the group that it is in, are looked at. */
  public void take(CachedPod pod) {
    directory.put(pod);
    pod.group()
        .ifPresent(
            group -> {
              List<CachedPod> pods = directory.group(pod.namespace(), group.name());
              new PodGroup(pod.namespace(), group.name(), pods, GivenCluster.NOW).asJob();
            });
  }
}
