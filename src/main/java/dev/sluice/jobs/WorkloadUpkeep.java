package dev.sluice.jobs;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Keys;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.jobs.JobAction.PatchWorkload;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.PriorityClassRef;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Keeps a Workload in step with what may change on a job: queue, priority class, gates, and where
 * it may go.
 */
public final class WorkloadUpkeep {

  /** At most one patch, with all that differs. */
  public List<JobAction> inStep(Situation situation, Workload workload) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    JobView job = situation.job();
    queue(job, workload, patch);
    priority(situation, workload, patch);
    gates(job, workload, patch);
    placement(job, workload, patch);
    if (patch.isEmpty()) {
      return List.of();
    }
    return List.of(
        new PatchWorkload(workload, patch, "Updated Workload " + workload.id() + ": " + patch));
  }

  private static void queue(JobView job, Workload workload, ObjectNode patch) {
    boolean mayChange = job.state().suspended() && !workload.quotaReserved();
    if (mayChange && !job.queueName().equals(workload.spec().queueName())) {
      patch.withObjectProperty("spec").put("queueName", job.queueName());
    }
  }

  private static void priority(Situation situation, Workload workload, ObjectNode patch) {
    String wanted = situation.job().workloadPriorityClass();
    Optional<PriorityClassRef> present = workload.spec().priorityClass();
    boolean byLabel = present.filter(ref -> ref.kind().equals("WorkloadPriorityClass")).isPresent();
    String known = byLabel ? present.orElseThrow().name() : "";
    boolean mayChange = !workload.quotaReserved() || (byLabel && !wanted.isEmpty());
    if (wanted.equals(known) || !mayChange) {
      return;
    }
    if (PrioritySource.of(situation.job(), situation.priorities())
        instanceof PrioritySource.Found found) {
      ObjectNode spec = patch.withObjectProperty("spec");
      spec.setAll(WorkloadComposer.priority(found));
      if (!spec.has("priorityClassRef")) {
        spec.putNull("priorityClassRef");
      }
    }
  }

  private static void gates(JobView job, Workload workload, ObjectNode patch) {
    String known = workload.annotations().getOrDefault(Keys.ADMISSION_GATED_BY, "");
    String wanted = job.annotations().getOrDefault(Keys.ADMISSION_GATED_BY, "");
    if (known.isEmpty() || known.equals(wanted)) {
      return;
    }
    ObjectNode annotations = patch.withObjectProperty("metadata").withObjectProperty("annotations");
    if (wanted.isEmpty()) {
      annotations.putNull(Keys.ADMISSION_GATED_BY);
    } else {
      annotations.put(Keys.ADMISSION_GATED_BY, wanted);
    }
  }

  /** Where it may go can be changed until it goes. */
  private static void placement(JobView job, Workload workload, ObjectNode patch) {
    if (!job.state().suspended() || workload.admitted()) {
      return;
    }
    for (String key : PlacementLimits.KEYS) {
      String wanted = job.annotations().get(key);
      if (!Objects.equals(wanted, workload.annotations().get(key))) {
        patch.withObjectProperty("metadata").withObjectProperty("annotations").put(key, wanted);
      }
    }
  }
}
