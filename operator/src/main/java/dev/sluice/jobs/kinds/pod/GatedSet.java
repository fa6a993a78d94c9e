package dev.sluice.jobs.kinds.pod;

import dev.sluice.jobs.policy.CachedJob;

/** What is kept of an object that creates gated pods, such as a StatefulSet. */
public interface GatedSet {

  /** The set in the words of all jobs. */
  CachedJob job();

  /** Whether its pods wait at their gates, as its template tells them. */
  default boolean gated() {
    return job().state().suspended();
  }
}
