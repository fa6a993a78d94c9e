package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remote jobs that several Workloads use: created for the first of them that runs in a worker,
 * deleted with the last one. Their spec follows the manager's. Thread-safe; for one job, one thread
 * at a time.
 */
final class SharedJobs {

  private static final Logger LOG = LoggerFactory.getLogger(SharedJobs.class);

  private final RemoteClient manager;
  private final RemoteClients remoteClients;
  private final OriginLabel originLabel;
  private final JobGroups jobGroups;

  SharedJobs(
      RemoteClient manager,
      RemoteClients remoteClients,
      OriginLabel originLabel,
      JobGroups jobGroups) {
    this.manager = manager;
    this.remoteClients = remoteClients;
    this.originLabel = originLabel;
    this.jobGroups = jobGroups;
  }

  /** Whether a remote job was made for the manager's job, and not for an earlier one. */
  static boolean isFor(JsonNode local, JsonNode there) {
    return there
        .path("metadata")
        .path("annotations")
        .path(KueueConstants.MULTIKUEUE_ORIGIN_UID)
        .asText()
        .equals(local.path("metadata").path("uid").asText());
  }

  /** Notes that a Workload is told to use a worker; the others of its job follow it from now on. */
  void claim(RemoteWorkloadContext context, String cluster) {
    JobGroups.job(context).ifPresent(job -> jobGroups.claim(job, context.local(), cluster));
  }

  /** Whether another Workload of the job runs in a worker. */
  boolean isUsed(RemoteWorkloadContext context, String cluster) {
    return JobGroups.job(context)
        .filter(job -> jobGroups.isUsed(job, context.key().name(), cluster))
        .isPresent();
  }

  /**
   * Brings the manager's spec to a remote job: once for each generation, because API servers may
   * differ in what they add to it.
   */
  void push(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      String cluster,
      JsonNode local,
      JsonNode there)
      throws IOException {
    Optional<JobGroups.GroupedJob> job = JobGroups.job(context);
    String spec =
        there.path("metadata").path("uid").asText()
            + "/"
            + local.path("metadata").path("generation").asLong();
    if (job.filter(it -> jobGroups.isPushed(it, spec)).isPresent()) {
      return;
    }
    ObjectNode patch = RemoteJobFactory.pushed(owner.kind(), local, there);
    if (!patch.isEmpty()) {
      remoteClients
          .of(cluster)
          .patch(owner.path(context.key().namespace()), RemoteWorkloadContext.at(there, patch));
      LOG.info(
          "job={}/{} cluster={} pushed={}",
          context.key().namespace(),
          owner.name(),
          cluster,
          patch);
    }
    job.ifPresent(it -> jobGroups.pushed(it, spec));
  }

  /**
   * Deletes a remote job unless another Workload runs there; in that case the job gets the
   * manager's spec, so that it has no group more than Workloads.
   */
  void withdraw(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException {
    String path = owner.path(context.key().namespace());
    Optional<ObjectNode> there =
        remoteClients
            .of(cluster)
            .get(path)
            .filter(it -> originLabel.isOn(it) && !OriginLabel.isDeleting(it));
    if (there.isEmpty()) {
      return;
    }
    if (!isUsed(context, cluster)) {
      remoteClients.of(cluster).delete(path, there.get());
      return;
    }
    Optional<ObjectNode> local = manager.get(path).filter(it -> isFor(it, there.get()));
    if (local.isPresent()) {
      push(context, owner, cluster, local.get(), there.get());
    }
  }
}
