package dev.sluice.endtoend;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pod on a node, as a judge sees it who knows nothing of jobs and queues.
 *
 * @param name its name
 * @param cpu the thousandths of a CPU that it requests
 * @param about what helps to understand why it ran
 */
record RunningPod(String name, long cpu, String about) {

  private static final long LONGEST_GRACE_SECONDS = 30;
  private static final int MILLIS = 3;

  static RunningPod of(Pod pod) {
    String name = pod.getMetadata().getName();
    long cpu = cpu(pod.getSpec());
    return new RunningPod(
        name,
        cpu,
        "%s=%dm created=%s owners=%s labels=%s"
            .formatted(
                name,
                cpu,
                pod.getMetadata().getCreationTimestamp(),
                pod.getMetadata().getOwnerReferences().stream()
                    .map(owner -> owner.getKind() + "/" + owner.getName())
                    .toList(),
                pod.getMetadata().getLabels()));
  }

  /** Whether a pod is bound to a node and neither has ended nor is stopped. */
  static boolean runs(Pod pod) {
    return pod.getSpec().getNodeName() != null && !isStopped(pod);
  }

  /** Whether a pod has ended, or is being deleted with a grace period of half a minute at most. */
  static boolean isStopped(Pod pod) {
    String phase = pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
    Long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
    boolean deleted =
        pod.getMetadata().getDeletionTimestamp() != null
            && grace != null
            && grace <= LONGEST_GRACE_SECONDS;
    return deleted || phase.equals("Succeeded") || phase.equals("Failed");
  }

  /**
   * What the scheduler counts: containers and those that begin before them and stay, or what runs
   * while one of the beginning does; what the whole pod declares instead; and the overhead.
   */
  private static long cpu(PodSpec spec) {
    long together = 0;
    long first = 0;
    for (Container container : spec.getInitContainers()) {
      long cpu = cpu(container.getResources());
      if ("Always".equals(container.getRestartPolicy())) {
        together += cpu;
        first = Math.max(first, together);
      } else {
        first = Math.max(first, together + cpu);
      }
    }
    for (Container container : spec.getContainers()) {
      together += cpu(container.getResources());
    }
    boolean declared =
        spec.getResources() != null
            && spec.getResources().getRequests() != null
            && spec.getResources().getRequests().containsKey("cpu");
    long whole = declared ? cpu(spec.getResources()) : Math.max(together, first);
    return whole + cpu(spec.getOverhead());
  }

  private static long cpu(@Nullable ResourceRequirements resources) {
    return resources == null ? 0 : cpu(resources.getRequests());
  }

  private static long cpu(@Nullable Map<String, Quantity> amounts) {
    Quantity cpu = amounts == null ? null : amounts.get("cpu");
    return cpu == null ? 0 : millis(cpu);
  }

  /** Thousandths. */
  static long millis(Quantity amount) {
    BigDecimal units = amount.getNumericalAmount();
    return units.movePointRight(MILLIS).longValue();
  }
}
