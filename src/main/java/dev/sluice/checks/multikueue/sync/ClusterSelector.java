package dev.sluice.checks.multikueue.sync;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which workers an AdmissionCheck chooses from. */
public interface ClusterSelector {

  /** In the order of the config; empty if it isn't one of ours, or isn't known. */
  Optional<List<String>> of(String check);

  /** The labels of a worker's object; none if it doesn't exist. */
  Map<String, String> labels(String cluster);
}
