package dev.sluice.jobs.importer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/** What happens to one object. */
public sealed interface ImportDecision {

  /**
   * It gets a Workload that holds quota.
   *
   * @param clusterQueue where it holds quota
   * @param workload the Workload to be created
   * @param status the status that the Workload gets
   * @param patch a merge patch of the object: its queue, and what the API writes of managed objects
   * @param amounts what it holds, by flavor and resource, joined by a slash
   */
  record Take(
      String clusterQueue,
      ObjectNode workload,
      ObjectNode status,
      ObjectNode patch,
      Map<String, Long> amounts)
      implements ImportDecision {}

  /** It stays as it is, which is in order. */
  record Leave(String reason) implements ImportDecision {}

  /** It can't be taken; somebody has to mend something first. */
  record Fault(String reason) implements ImportDecision {}
}
