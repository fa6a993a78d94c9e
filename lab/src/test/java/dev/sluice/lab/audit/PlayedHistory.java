package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** A history written by hand: each call is one write, with the next revision. */
final class PlayedHistory {

  private final ObjectMapper yaml = new ObjectMapper(new YAMLFactory());
  private final List<ObjectChange> objectChanges = new ArrayList<>();
  private long revision = 100;

  /** A ClusterQueue {@code pool} with so many CPUs of flavor {@code only}. */
  PlayedHistory quota(int cpus) {
    return put(
        AuditedKind.CLUSTER_QUEUE,
        """
        metadata: {name: pool, uid: pool}
        spec:
          resourceGroups:
          - flavors: [{name: only, resources: [{name: cpu, nominalQuota: "%d"}]}]
        """
            .formatted(cpus));
  }

  PlayedHistory suspended(String job) {
    return job(job, true, "", "registry.example/image:1");
  }

  PlayedHistory unsuspended(String job) {
    return job(job, false, "", "registry.example/image:1");
  }

  PlayedHistory completed(String job) {
    return job(job, false, "Complete", "registry.example/image:1");
  }

  PlayedHistory suspendedWithImage(String job, String image) {
    return job(job, true, "", image);
  }

  /** Its deletion began while it ran. */
  PlayedHistory leaving(String job) {
    return put(
        AuditedKind.JOB,
        """
        metadata:
          name: %s
          namespace: team
          uid: %s
          deletionTimestamp: "2026-01-01T00:00:00Z"
          labels: {kueue.x-k8s.io/queue-name: main}
        spec: {suspend: false, completions: 2}
        """
            .formatted(job, job));
  }

  private PlayedHistory job(String job, boolean suspend, String end, String image) {
    return put(
        AuditedKind.JOB,
        """
        metadata: {name: %s, namespace: team, uid: %s, labels: {kueue.x-k8s.io/queue-name: main}}
        spec: {suspend: %s, completions: 2, template: {spec: {containers: [{image: "%s"}]}}}
        status: {conditions: [{type: "%s", status: "True"}]}
        """
            .formatted(job, job, suspend, image, end));
  }

  PlayedHistory waiting(String job) {
    return workload(job, "status: {}");
  }

  /** The Job's Workload holds 2 CPUs, one for each pod. */
  PlayedHistory admitted(String job) {
    return workload(job, status("[{type: Admitted, status: \"True\"}]", 0));
  }

  PlayedHistory reclaimed(String job, int pods) {
    return workload(job, status("[{type: Admitted, status: \"True\"}]", pods));
  }

  PlayedHistory evicted(String job) {
    return workload(job, status("[{type: Evicted, status: \"True\"}]", 0));
  }

  PlayedHistory finished(String job) {
    return workload(job, status("[{type: Finished, status: \"True\"}]", 0));
  }

  private static String status(String conditions, int reclaimable) {
    return """
    status:
      conditions: %s
      reclaimablePods: [{name: main, count: %d}]
      admission:
        clusterQueue: pool
        podSetAssignments:
        - {name: main, count: 2, flavors: {cpu: only}, resourceUsage: {cpu: 2000m}}
    """
        .formatted(conditions, reclaimable);
  }

  PlayedHistory workload(String job, String status) {
    return namedWorkload("of-" + job, job, status);
  }

  PlayedHistory namedWorkload(String name, String job, String status) {
    return put(
        AuditedKind.WORKLOAD,
        """
        metadata:
          name: %s
          namespace: team
          uid: %s
          ownerReferences: [{kind: Job, controller: true, uid: %s}]
        """
                .formatted(name, name, job)
            + status);
  }

  /**
   * An admitted slice of an elastic Job.
   *
   * @param granted the pods that it was admitted with
   * @param pods the pods that it has now, as many or fewer
   * @param replaces the slice that it replaces; empty if it replaces none
   * @param finished whether it has finished
   */
  PlayedHistory slice(
      String job, String name, int granted, int pods, String replaces, boolean finished) {
    return put(
        AuditedKind.WORKLOAD,
        """
        metadata:
          name: %1$s
          namespace: team
          uid: %1$s
          ownerReferences: [{kind: Job, controller: true, uid: %2$s}]
          annotations:
            kueue.x-k8s.io/elastic-job: "true"
            kueue.x-k8s.io/workload-slice-replacement-for: "%3$s"
        spec: {podSets: [{name: main, count: %4$d}]}
        status:
          conditions: [{type: Admitted, status: "True"}, {type: Finished, status: "%5$s"}]
          admission:
            clusterQueue: pool
            podSetAssignments:
            - {name: main, count: %6$d, flavors: {cpu: only}, resourceUsage: {cpu: %6$d}}
        """
            .formatted(
                name,
                job,
                replaces.isEmpty() ? "" : "team/" + replaces,
                pods,
                finished ? "True" : "False",
                granted));
  }

  /** A pod of an elastic Job whose gate is closed. */
  PlayedHistory podGated(String job, String pod) {
    return put(
        AuditedKind.POD,
        podYaml(job, pod, "Pending")
            .replace("spec: {", "spec: {schedulingGates: [{name: kueue.x-k8s.io/elastic-job}], "));
  }

  PlayedHistory pod(String job, String pod, String phase) {
    return put(AuditedKind.POD, podYaml(job, pod, phase));
  }

  PlayedHistory podTerminating(String job, String pod, String phase) {
    return put(
        AuditedKind.POD,
        podYaml(job, pod, phase)
            .replaceFirst("metadata:", "metadata:\n  deletionTimestamp: 2026-01-01T00:00:00Z"));
  }

  PlayedHistory podDeleted(String job, String pod, String phase) {
    return add(AuditedKind.POD, true, podYaml(job, pod, phase));
  }

  private static String podYaml(String job, String pod, String phase) {
    return """
    metadata:
      name: %s
      namespace: team
      uid: %s
      ownerReferences: [{kind: Job, controller: true, uid: %s}]
    spec: {containers: [{resources: {requests: {cpu: "1"}}}]}
    status: {phase: %s}
    """
        .formatted(pod, pod, job, phase);
  }

  /** A whole life: held, admitted, run with two pods, finished. */
  PlayedHistory life(String job) {
    return suspended(job)
        .waiting(job)
        .admitted(job)
        .unsuspended(job)
        .pod(job, job + "-1", "Pending")
        .pod(job, job + "-2", "Pending")
        .pod(job, job + "-1", "Succeeded")
        .pod(job, job + "-2", "Succeeded")
        .completed(job)
        .finished(job);
  }

  private PlayedHistory put(AuditedKind kind, String text) {
    return add(kind, false, text);
  }

  private PlayedHistory add(AuditedKind kind, boolean deleted, String text) {
    objectChanges.add(new ObjectChange(revision++, kind, deleted, read(text)));
    return this;
  }

  private JsonNode read(String text) {
    try {
      return yaml.readTree(text);
    } catch (java.io.IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  AuditReport audit() {
    return Auditor.audit(objectChanges);
  }

  List<ObjectChange> changes() {
    return List.copyOf(objectChanges);
  }
}
