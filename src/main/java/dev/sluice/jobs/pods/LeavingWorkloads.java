package dev.sluice.jobs.pods;

import dev.sluice.api.Keys;
import dev.sluice.jobs.JobObjects;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.Waiting;
import dev.sluice.workloads.Finalizers;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.WorkloadStore;
import dev.sluice.workloads.WorkloadWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets go of the Workloads of pods that are being deleted when no pod of them is left. */
final class LeavingWorkloads {

  private static final Logger LOG = LoggerFactory.getLogger(LeavingWorkloads.class);
  private static final Duration AGAIN = Duration.ofSeconds(2);

  private final PodDirectory directory;
  private final WorkloadStore workloads;
  private final WorkloadWriter writer;
  private final JobObjects objects;

  LeavingWorkloads(PodDirectory directory, JobReconciler.Surroundings around) {
    this.directory = directory;
    this.workloads = around.workloads().store();
    this.writer = around.writer();
    this.objects = around.objects();
  }

  /** Which Workload. */
  record Name(String namespace, String name) {}

  /** Whether an owner is a pod. */
  static boolean isPod(Workload.Owner owner) {
    return SinglePod.KIND.is(owner.apiVersion(), owner.kind());
  }

  /** Whether it was made for a group of pods. */
  static boolean isOfGroup(Workload workload) {
    return "true".equals(workload.annotations().get(Keys.IS_GROUP_WORKLOAD));
  }

  /** Whether a Workload of pods is being deleted and still guarded. */
  static boolean concerns(Workload workload) {
    return workload.deleting()
        && workload.finalized()
        && (isOfGroup(workload) || workload.owner().filter(LeavingWorkloads::isPod).isPresent());
  }

  /** Takes the finalizer off, unless a pod is left that sees to it; answers when to look again. */
  Optional<Duration> letGo(Name name) throws InterruptedException {
    Optional<Workload> found =
        workloads.get(name.namespace(), name.name()).filter(LeavingWorkloads::concerns);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    if (directory.hasGroup(name.namespace(), name.name())) {
      return Optional.of(AGAIN);
    }
    Workload workload = found.get();
    for (Workload.Owner owner : pods(workload)) {
      if (isKnown(name.namespace(), owner) || isThere(name.namespace(), owner)) {
        return Optional.of(AGAIN);
      }
    }
    WorkloadWriter.Outcome outcome =
        Waiting.forResult(
            writer.patch(workload.id(), workload.version(), Finalizers.removal(workload)));
    LOG.info("workload={} released, reason=\"no pod of it is left\"", workload.id());
    return outcome instanceof WorkloadWriter.Outcome.Conflict
        ? Optional.of(AGAIN)
        : Optional.empty();
  }

  private static List<Workload.Owner> pods(Workload workload) {
    List<Workload.Owner> owners = new ArrayList<>(workload.coOwners());
    workload.owner().ifPresent(owners::add);
    return owners.stream().filter(LeavingWorkloads::isPod).toList();
  }

  private boolean isKnown(String namespace, Workload.Owner owner) {
    return directory
        .find(namespace, owner.name())
        .filter(pod -> pod.job().ref().uid().equals(owner.uid()))
        .isPresent();
  }

  private boolean isThere(String namespace, Workload.Owner owner) throws InterruptedException {
    return Waiting.forResult(objects.read(SinglePod.KIND.path(namespace, owner.name())))
        .filter(pod -> pod.path("metadata").path("uid").asText().equals(owner.uid()))
        .isPresent();
  }
}
