package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.AllowedSubjects;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.sluice.ReservationReader.ReservationSpec;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.queues.cache.ReservationTargets;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

/** Facts about the cluster that webhooks need. All answers come from caches, without I/O. */
public interface ClusterLookup {

  /**
   * The controller owner of an object.
   *
   * @param apiVersion API version of the owner
   * @param kind kind of the owner
   * @param name name of the owner
   * @param uid uid of the owner
   */
  record Owner(String apiVersion, String kind, String name, String uid) {

    /** An object as the owner of others. */
    public static Owner of(JsonNode object) {
      return new Owner(
          JsonFields.text(object, "apiVersion"),
          JsonFields.text(object, "kind"),
          JsonFields.text(object, "metadata", "name"),
          JsonFields.text(object, "metadata", "uid"));
    }
  }

  /** Whether the namespace has a LocalQueue named {@code default}. */
  boolean hasDefaultLocalQueue(String namespace);

  /**
   * The LocalQueues that a namespace has in place of one that it lacks.
   *
   * @return their names; empty if the namespace has the queue, or if it isn't known
   */
  default Optional<Set<String>> localQueuesWithout(String namespace, String queue) {
    return Optional.empty();
  }

  /**
   * The WorkloadPriorityClasses that there are in place of one that there isn't.
   *
   * @return their names; empty if the class exists, or if that isn't known
   */
  default Optional<Set<String>> priorityClassesWithout(String name) {
    return Optional.empty();
  }

  /**
   * The ClusterQueues that there are in place of one that there isn't.
   *
   * @return their names; empty if the queue exists, or if that isn't known
   */
  default Optional<Set<String>> clusterQueuesWithout(String name) {
    return Optional.empty();
  }

  /**
   * What a CapacityReservation or a MaintenanceWindow names that there isn't, and what can't be
   * kept whole; empty if that isn't known.
   */
  default Optional<ReservationTargets.Comparison> compared(ReservationSpec spec) {
    return Optional.empty();
  }

  /**
   * The LocalQueues in the scope of a budget in which nothing says how long jobs run that don't say
   * it themselves; empty if that isn't known.
   */
  default Optional<SortedSet<LocalQueueId>> queuesWithoutRunTime(BudgetSpec.Scope scope) {
    return Optional.empty();
  }

  /** The parent of a Cohort; empty if it has none, or isn't known. */
  default String parentOfCohort(String name) {
    return "";
  }

  /** Whether a WorkloadPriorityClass named {@code default} exists. */
  boolean hasDefaultPriorityClass();

  /** The labels of a namespace; empty if the namespace is unknown. */
  Map<String, String> namespaceLabels(String namespace);

  /** A job with the specs of the objects that it refers to, as far as they are known. */
  default JsonNode resolved(JobKind kind, JsonNode job) {
    return job;
  }

  /** Whether the jobs of this LocalQueue run in worker clusters. */
  default boolean runsElsewhere(String namespace, String queue) {
    return false;
  }

  /** Whether the jobs of this LocalQueue may run in this cluster as well as in worker clusters. */
  default boolean mayRunHere(String namespace, String queue) {
    return false;
  }

  /** How long jobs of this LocalQueue may run; empty: as long as they say. */
  default Optional<QueueRunTime> maxRunTime(String namespace, String queue) {
    return Optional.empty();
  }

  /**
   * Why the ClusterQueue of this LocalQueue lets no job wait for a cheaper flavor, or not one with
   * these labels, for people; empty if it may, or if the queue isn't known.
   */
  default Optional<String> noWaitForCheaper(
      String namespace, String queue, Map<String, String> labels) {
    return Optional.empty();
  }

  /**
   * Who may use this LocalQueue. If it doesn't exist: nobody in a namespace with one that not
   * everybody may use, so that nobody names a queue before its annotations are there; else
   * everybody.
   */
  default AllowedSubjects allowedInQueue(String namespace, String queue) {
    return AllowedSubjects.EVERYBODY;
  }

  /**
   * Who may use this WorkloadPriorityClass; everybody if it doesn't exist, since worker clusters
   * get Workloads with classes that they lack.
   */
  default AllowedSubjects allowedInPriorityClass(String name) {
    return AllowedSubjects.EVERYBODY;
  }

  /**
   * The WorkloadPriorityClasses above 0 that not everybody may use and whose value isn't larger
   * than a priority; none if the priority is that of the class that is used, or smaller.
   */
  default Set<String> restrictedClassesUpTo(long priority, String used) {
    return Set.of();
  }

  /** Whether the namespace has a LocalQueue that not everybody may use. */
  default boolean hasRestrictedQueue(String namespace) {
    return false;
  }

  /** What a Workload of this name uses; empty if there is none. */
  default Optional<QueueUse> useOfWorkload(String namespace, String name) {
    return Optional.empty();
  }

  /**
   * Whether this owner of something in the namespace, or one of its owners, uses the same; an empty
   * name is any.
   */
  default boolean hasUse(String namespace, Owner owner, QueueUse queueUse) {
    return false;
  }

  /** Whether the user of this name is the operator itself. */
  default boolean isOperator(String user) {
    return false;
  }

  /** Whether the object has a Workload that is not on hold. */
  default boolean hasWorkloadInUse(String namespace, Owner job) {
    return false;
  }

  /** Whether a Workload of the job is evicted, and has quota until the pods of the job are gone. */
  default boolean isBeingEvicted(String namespace, Owner job) {
    return false;
  }

  /**
   * What a pod would request beyond the amounts that it was admitted with, and didn't request
   * before; empty if it is within them, or runs without quota.
   *
   * @return for example {@code cpu: 2000 of 1000}, in thousandths for cpu, in whole units otherwise
   */
  default Optional<String> admissionExcess(String namespace, JsonNode before, JsonNode pod) {
    return Optional.empty();
  }

  /**
   * Why a pod that is to be created or changed may not run: with it a job would run more than it
   * was admitted with. Empty if the pod may run, or if pods aren't prevented. A pod that may run,
   * and is no dry run, counts from now on.
   *
   * @throws dev.sluice.webhooks.review.WebhookRouter.ClusterNotListedException if that can't be
   *     told now
   */
  default Optional<String> excessWith(AdmissionRequest request) {
    return Optional.empty();
  }

  /** Whether kube-scheduler has once found a node for every pod of this PodGroup. */
  default boolean isScheduledPodGroup(String namespace, String podGroup) {
    return false;
  }

  /**
   * Whether this owner, or one of its owners, is managed, so that its dependents must not be
   * managed as well.
   */
  boolean isManaged(String namespace, Owner owner);

  /**
   * What a job or a Workload uses.
   *
   * @param queue the LocalQueue; empty if none
   * @param priorityClass the WorkloadPriorityClass; empty if none
   */
  record QueueUse(String queue, String priorityClass) {

    /** Nothing. */
    public static final QueueUse NONE = new QueueUse("", "");

    /** What a job of any kind uses; {@link #NONE} if there is no such object. */
    public static QueueUse ofJob(JsonNode job) {
      JobMetadata metadata = JobMetadata.of(job, false);
      return new QueueUse(
          metadata.queue().orElse(""), metadata.label(KueueConstants.PRIORITY_CLASS));
    }

    /** What a Workload uses; {@link #NONE} if there is no such object. */
    public static QueueUse ofWorkload(JsonNode workload) {
      boolean ofThisApi =
          JsonFields.text(workload, "spec", "priorityClassRef", "kind")
              .equals("WorkloadPriorityClass");
      return new QueueUse(
          JsonFields.text(workload, "spec", "queueName"),
          ofThisApi ? JsonFields.text(workload, "spec", "priorityClassRef", "name") : "");
    }
  }
}
