package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.policy.JobAction.AssignQueue;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.List;

/**
 * Decides whether a job that names no queue is given the LocalQueue that it belongs to. A job is
 * taken only if nothing of it has ever run, as far as the object can tell, and only as it was when
 * that was decided: the write is guarded by the version. A job that was given its queue follows its
 * quota to another LocalQueue while it holds no quota.
 */
public final class JobIntakePolicy {

  /** Why people are told that a job isn't taken. */
  static final String REFUSED = "QuotaNotAvailable";

  private static final Requeue LATER = new Requeue(Duration.ofSeconds(10));

  private final JobIntegration integration;
  private final JobOptions options;
  private final JobIntake intake;

  /** For jobs of one kind, whose queues {@code intake} chooses. */
  public JobIntakePolicy(JobIntegration integration, JobOptions options, JobIntake intake) {
    this.integration = integration;
    this.options = options;
    this.intake = intake;
  }

  /** Whether a job may be taken, or follow its quota; answered from the job alone. */
  public boolean concerns(CachedJob job) {
    return intake.isOn()
        && (job.queueName().isEmpty() || wasAssigned(job))
        && job.prebuiltWorkload().isEmpty()
        && job.state().handling().manageable();
  }

  private static boolean wasAssigned(CachedJob job) {
    return job.queueName().equals(job.annotations().get(KubeQueueKeys.ASSIGNED_QUEUE));
  }

  /**
   * The actions for a job; empty if it isn't taken, or is where it belongs.
   *
   * @param part whether an owner of the job is, or may become, managed: the job is a part of it
   */
  public List<JobAction> decide(ReconcileContext context, boolean part) {
    CachedJob job = context.job();
    if (!job.queueName().isEmpty()) {
      return follow(context);
    }
    boolean free =
        concerns(job)
            && context.managementStatus() instanceof ManagementStatus.Unmanaged
            && options.managedNamespaces().test(job.ref().namespace())
            && context.owned().isEmpty()
            && !job.deleting()
            && !part;
    if (!free || !isUntouched(job)) {
      return List.of();
    }
    return switch (assignment(job)) {
      case QueueAssignment.Unassigned none -> List.of();
      case QueueAssignment.NotAvailable refused -> List.of(new Warn(REFUSED, refused.message()));
      case QueueAssignment.ToLocalQueue queue -> List.of(assign(job, queue.name()));
      case QueueAssignment.Pending pending -> pending(pending);
    };
  }

  /**
   * A job whose namespace, or quota, has another LocalQueue now: the old one is on hold, or gone.
   */
  private List<JobAction> follow(ReconcileContext context) {
    CachedJob job = context.job();
    boolean waits =
        concerns(job)
            && context.managementStatus() instanceof ManagementStatus.Own
            && !job.deleting()
            && job.state().suspended()
            && !job.state().active()
            && job.state().end().isEmpty()
            && context.owned().stream().noneMatch(CachedWorkload::quotaReserved);
    if (!waits) {
      return List.of();
    }
    return switch (assignment(job)) {
      case QueueAssignment.ToLocalQueue queue when !queue.name().equals(job.queueName()) ->
          List.of(assign(job, queue.name()));
      case QueueAssignment.Pending pending -> pending(pending);
      default -> List.of();
    };
  }

  /** Nobody tells of a LocalQueue that can't be made. */
  private static List<JobAction> pending(QueueAssignment.Pending pending) {
    return pending.problem().isEmpty()
        ? List.of(LATER)
        : List.of(new Warn(REFUSED, pending.problem()), LATER);
  }

  private QueueAssignment assignment(CachedJob job) {
    return intake.assign(job.ref(), job.labels(), job.annotations(), () -> templates(job));
  }

  /** Known of suspended jobs only: of others no text is kept. */
  private List<ObjectNode> templates(CachedJob job) {
    return job.text().isEmpty()
        ? List.of()
        : integration.podSets(job.object()).stream().map(PodSetTemplate::template).toList();
  }

  /** Whether nothing of the job has run yet. */
  private boolean isUntouched(CachedJob job) {
    JobState state = job.state();
    if (state.end().isPresent() || state.active() || state.stopUnfinished()) {
      return false;
    }
    return state.suspended() || state.handling().held()
        ? integration.neverStarted(job.object())
        : intake.takesUnsuspended() && !state.podsReady() && !integration.suspendField().isEmpty();
  }

  private AssignQueue assign(CachedJob job, String queue) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    ObjectNode metadata = body.putObject("metadata");
    metadata.putObject("labels").put(KueueConstants.QUEUE_NAME, queue);
    metadata.putObject("annotations").put(KubeQueueKeys.ASSIGNED_QUEUE, queue);
    if (!job.state().suspended()) {
      ObjectNode parent = body;
      List<String> field = integration.suspendField();
      for (String name : field.subList(0, field.size() - 1)) {
        parent = parent.withObjectProperty(name);
      }
      parent.set(field.getLast(), integration.suspension(true));
    }
    return new AssignQueue(queue, new JobPatch(false, body));
  }
}
