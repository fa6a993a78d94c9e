package dev.sluice.reference;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.core.model.FairSharing;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A run written by hand: each call is one write, with the next revision, at the same moment. */
final class RunStory {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final ObjectMapper yaml = new ObjectMapper(new YAMLFactory());
  private final List<RunAudit.Moment> moments = new ArrayList<>();
  private Instant now = START;
  private long revision = 100;

  /** Time goes by. */
  RunStory after(Duration time) {
    now = now.plus(time);
    return this;
  }

  /** Enough time for all that was decided to be done. */
  RunStory later() {
    return after(RunAudit.LAG.plusSeconds(1));
  }

  /** A ClusterQueue with so many CPUs in cohort {@code org}, and a LocalQueue of its name. */
  RunStory queue(String name, int cpus, String more) {
    return write(
            AuditedKind.CLUSTER_QUEUE,
            """
            metadata: {name: %s, uid: %s}
            spec:
              cohortName: org
              resourceGroups:
              - coveredResources: [cpu]
                flavors: [{name: only, resources: [{name: cpu, nominalQuota: "%d"}]}]
              %s
            """
                .formatted(name, name, cpus, more))
        .write(
            AuditedKind.LOCAL_QUEUE,
            """
            metadata: {name: %s, uid: local-%s, namespace: team}
            spec: {clusterQueue: %s}
            """
                .formatted(name, name, name));
  }

  /** One more LocalQueue of a ClusterQueue. */
  RunStory localQueue(String name, String clusterQueue, String stopPolicy) {
    return write(
        AuditedKind.LOCAL_QUEUE,
        """
        metadata: {name: %s, uid: local-%s, namespace: team}
        spec: {clusterQueue: %s, stopPolicy: %s}
        """
            .formatted(name, name, clusterQueue, stopPolicy));
  }

  RunStory waits(String name, String queue, int cpus, int priority) {
    return workload(name, queue, cpus, priority, "{}");
  }

  RunStory admitted(String name, String queue, int cpus, int priority) {
    return workload(
        name,
        queue,
        cpus,
        priority,
        "{conditions: [%s], %s}".formatted(RESERVED, admission(queue, cpus)));
  }

  RunStory finished(String name, String queue, int cpus, int priority) {
    return workload(
        name,
        queue,
        cpus,
        priority,
        "{conditions: [%s, {type: Finished, status: \"True\"}], %s}"
            .formatted(RESERVED, admission(queue, cpus)));
  }

  /** Preempted for another one, by ways and priorities as the message tells. */
  RunStory preempted(
      String name,
      String queue,
      int cpus,
      int priority,
      String reason,
      String preemptor,
      String preemptorQueue,
      int preemptorPriority) {
    return workload(
        name,
        queue,
        cpus,
        priority,
        """
        {conditions: [%s, {type: Evicted, status: "True", reason: Preempted},
        {type: Preempted, status: "True", reason: %s, lastTransitionTime: "%s",
        message: "Preempted to accommodate a workload (UID: %s, JobUID: UNKNOWN) due to whatever;\
         preemptor path: /org/%s; preemptee path: /org/%s;\
         preemptor effective priority: %d; preemptee effective priority: %d"}], %s}\
        """
            .formatted(
                RESERVED,
                reason,
                now,
                preemptor,
                preemptorQueue,
                queue,
                preemptorPriority,
                priority,
                admission(queue, cpus)));
  }

  private static final String RESERVED =
      "{type: QuotaReserved, status: \"True\", lastTransitionTime: \"2026-01-01T00:00:00Z\"}";

  private static String admission(String queue, int cpus) {
    return "admission: {clusterQueue: %s, podSetAssignments: [{name: main, count: 1, flavors: {cpu: only}, resourceUsage: {cpu: \"%d\"}}]}"
        .formatted(queue, cpus);
  }

  private RunStory workload(String name, String queue, int cpus, int priority, String status) {
    return write(
        AuditedKind.WORKLOAD,
        """
        metadata:
          name: %s
          uid: %s
          namespace: team
          resourceVersion: "%d"
          creationTimestamp: "2026-01-01T00:00:00Z"
        spec:
          queueName: %s
          priority: %d
          podSets:
          - name: main
            count: 1
            template: {spec: {containers: [{resources: {requests: {cpu: "%d"}}}]}}
        status: %s
        """
            .formatted(name, name, revision, queue, priority, cpus, status));
  }

  private RunStory write(AuditedKind kind, String text) {
    try {
      moments.add(
          new RunAudit.Moment(new ObjectChange(revision++, kind, false, yaml.readTree(text)), now));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  RunAudit.Report audit() {
    return RunAudit.audit(moments, Optional.empty());
  }

  RunAudit.Report audit(FairSharing sharing) {
    return RunAudit.audit(moments, Optional.of(sharing));
  }
}
