package dev.sluice.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.workload.lifecycle.LifecycleAction;
import dev.sluice.workload.lifecycle.LifecycleOptions;
import dev.sluice.workload.lifecycle.LifecyclePolicy;
import dev.sluice.workload.lifecycle.QueueLookup;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** What a job's controller and the life cycle write to one Workload, one after the other. */
public final class BothWriters {

  private static final int TURNS = 6;
  private static final QueueLookup OPEN = new QueueLookup(QueueState.OPEN, QueueState.OPEN);

  private final ObjectNode workload;

  private BothWriters(ObjectNode workload) {
    this.workload = workload;
  }

  /**
   * The reasons of QuotaReserved=False in turn, until nobody writes any more; as many as there are
   * turns if they never come to an end.
   */
  public static List<String> reasons(
      ObjectNode workload, Function<CachedWorkload, List<JobAction>> jobController) {
    return new BothWriters(workload.deepCopy()).reasons(jobController);
  }

  private List<String> reasons(Function<CachedWorkload, List<JobAction>> jobController) {
    List<String> reasons = new ArrayList<>();
    for (int turn = 0; turn < TURNS; turn++) {
      boolean wrote = false;
      for (JobAction action : jobController.apply(parsed())) {
        if (action instanceof JobAction.PatchStatus patch) {
          merge(patch.status());
          reasons.add(reason());
          wrote = true;
        }
      }
      if (LifecyclePolicy.decide(parsed(), OPEN, LifecycleOptions.WITHOUT_LIMITS, GivenCluster.NOW)
              .action()
              .orElse(null)
          instanceof LifecycleAction.PatchStatus patch) {
        merge(patch.status());
        reasons.add(reason());
        wrote = true;
      }
      if (!wrote) {
        break;
      }
    }
    return reasons;
  }

  private CachedWorkload parsed() {
    try {
      return new WorkloadParser().parse(workload.toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void merge(ObjectNode patch) {
    ObjectNode status = workload.withObjectProperty("status");
    patch
        .properties()
        .forEach(
            field -> {
              if (field.getValue().isNull()) {
                status.remove(field.getKey());
              } else {
                status.set(field.getKey(), field.getValue());
              }
            });
  }

  private String reason() {
    for (JsonNode condition : workload.at("/status/conditions")) {
      if (condition.path("type").asText().equals("QuotaReserved")) {
        return condition.path("reason").asText();
      }
    }
    return "";
  }
}
