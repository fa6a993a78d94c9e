package dev.sluice.checks.multikueue.sync;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Resolves the workers of an AdmissionCheck. */
public interface ClusterSelector {

  /**
   * The workers of the check, in the order of its config; empty if the check is unknown or not a
   * MultiKueue check.
   */
  Optional<List<String>> of(String check);

  /** Whether the configs are known; before that no check has workers. */
  boolean listed();

  /** The labels of a worker's MultiKueueCluster; empty if it does not exist. */
  Map<String, String> labels(String cluster);
}
