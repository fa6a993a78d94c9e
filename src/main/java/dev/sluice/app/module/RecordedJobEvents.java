package dev.sluice.app.module;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.jobs.controller.JobEvents;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;

/** Events about jobs, by way of the recorder, and what is measured of jobs. */
final class RecordedJobEvents implements JobEvents {

  private static final String ACTION = "Reconcile";

  private final EventRecorder events;
  private final MetricsModule metrics;

  RecordedJobEvents(EventRecorder events, MetricsModule metrics) {
    this.events = events;
    this.metrics = metrics;
  }

  @Override
  public void workloadCreated(JobRef job, String localQueue, Duration sinceJobCreation) {
    metrics.recordWorkloadCreation(
        job.kind().kind(), new LocalQueueId(job.namespace(), localQueue), sinceJobCreation);
  }

  @Override
  public void gateRemoved(CachedWorkload workload, String gate) {
    metrics.recordGateRemoval(workload, gate);
  }

  @Override
  public void normal(JobRef job, String reason, String note) {
    events.record(subject(job), EventRecorder.Type.NORMAL, reason, ACTION, note);
  }

  @Override
  public void warning(JobRef job, String reason, String note) {
    events.record(subject(job), EventRecorder.Type.WARNING, reason, ACTION, note);
  }

  private static ObjectReference subject(JobRef job) {
    return new ObjectReference(
        job.kind().apiVersion(), job.kind().kind(), job.namespace(), job.name(), job.uid());
  }
}
