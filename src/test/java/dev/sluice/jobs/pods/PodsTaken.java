package dev.sluice.jobs.pods;

import dev.sluice.jobs.GivenCluster;
import java.util.List;

/** What is made of pods that come one by one, for tests of other rooms. */
public final class PodsTaken {

  private final PodDirectory directory = new PodDirectory();

  /** A pod comes, or changes: it, and the group that it is in, are looked at. */
  public void take(PodView pod) {
    directory.put(pod);
    pod.group()
        .ifPresent(
            group -> {
              List<PodView> pods = directory.group(pod.namespace(), group.name());
              new PodGroup(pod.namespace(), group.name(), pods, GivenCluster.NOW).asJob();
            });
  }
}
