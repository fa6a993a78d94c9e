package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.placement.LocalWorker;
import dev.sluice.api.placement.PlacementLimits;
import java.util.Map;
import java.util.Objects;

/** The annotations that say which worker clusters a job may go to. */
final class PlacementRules {

  private PlacementRules() {}

  /** What must hold for a job or Workload at any time. */
  static void form(Map<String, String> annotations, Complaints bad) {
    PlacementLimits.faults(annotations)
        .forEach(
            fault ->
                bad.invalid(JobFacts.ANNOTATIONS.key(fault.key()), fault.value(), fault.rule()));
  }

  /** What must hold for a change of a job: where it may go is settled once it goes. */
  static void change(JobFacts before, JobFacts now, Complaints bad) {
    String here = before.annotations().get(LocalWorker.MAY_RUN_HERE);
    if (!Objects.equals(here, now.annotations().get(LocalWorker.MAY_RUN_HERE))) {
      bad.immutable(
          JobFacts.ANNOTATIONS.key(LocalWorker.MAY_RUN_HERE),
          TextNode.valueOf(now.annotations().getOrDefault(LocalWorker.MAY_RUN_HERE, "")),
          "");
    }
    for (String key : PlacementLimits.KEYS) {
      if (!Objects.equals(before.annotations().get(key), now.annotations().get(key))
          && !(before.isSuspended() && now.isSuspended())) {
        bad.immutable(
            JobFacts.ANNOTATIONS.key(key),
            TextNode.valueOf(now.annotations().getOrDefault(key, "")),
            "unless the job is suspended");
      }
    }
  }
}
