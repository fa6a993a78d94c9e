package dev.sluice.jobs;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.PodTemplate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The Workload of a job, in the words of a test; as it was made for the job it is given. */
public final class GivenWorkload {

  /** The name of the Workload of {@link GivenJob#job()}. */
  public static final String NAME = "job-sample-355fa";

  private static final Instant CREATED = Instant.parse("2026-03-01T10:00:01Z");

  private final CachedJob job;
  private final Map<String, Condition> conditions = new LinkedHashMap<>();
  private final Map<String, Integer> reclaimable = new LinkedHashMap<>();
  private final Map<String, String> annotations = new LinkedHashMap<>();
  private final Map<String, String> labels = new LinkedHashMap<>();
  private List<String> finalizers = List.of(KueueConstants.RESOURCE_IN_USE);
  private Optional<CachedWorkload.Owner> owner;
  private final List<CachedWorkload.Owner> coOwners = new ArrayList<>();
  private Optional<CachedWorkload.Admission> admission = Optional.empty();
  private Optional<CachedWorkload.PriorityClassRef> priorityClass = Optional.empty();
  private String queue;
  private final List<CachedWorkload.CheckState> checks = new ArrayList<>();
  private final List<CachedWorkload.EvictionCount> evictions = new ArrayList<>();
  private boolean active = true;
  private boolean deleting;
  private long version = 200;
  private String name = NAME;

  private String cluster = "";
  private int priority;
  private int executionSeconds;

  private GivenWorkload(CachedJob job) {
    this.job = job;
    this.queue = job.queueName();
    this.owner =
        Optional.of(new CachedWorkload.Owner("batch/v1", "Job", job.ref().name(), job.ref().uid()));
  }

  /** The Workload that was made for this job. */
  public static GivenWorkload workloadOf(GivenJob job) {
    return new GivenWorkload(job.view());
  }

  /** With quota in ClusterQueue research, on this flavor, for all pods. */
  public GivenWorkload reserved(String flavor) {
    return reserved(flavor, job.podSets().getFirst().count());
  }

  /** With quota for so many pods. */
  public GivenWorkload reserved(String flavor, int count) {
    admission =
        Optional.of(
            new CachedWorkload.Admission(
                "research",
                List.of(
                    new CachedWorkload.Assignment(
                        "main", Map.of("cpu", flavor), Map.of("cpu", "3"), count))));
    return condition("QuotaReserved", "True", "QuotaReserved", "");
  }

  /** Admitted on this flavor. */
  public GivenWorkload admitted(String flavor) {
    return reserved(flavor).condition("Admitted", "True", "Admitted", "");
  }

  /** Admitted with so many pods. */
  public GivenWorkload admitted(String flavor, int count) {
    return reserved(flavor, count).condition("Admitted", "True", "Admitted", "");
  }

  /** Admitted on this flavor so long after it was created, having run before for some time. */
  public GivenWorkload admittedAfter(String flavor, Duration wait, int ranBefore) {
    executionSeconds = ranBefore;
    reserved(flavor)
        .conditions
        .put("Admitted", new Condition("Admitted", "True", "Admitted", "", CREATED.plus(wait), 1));
    return this;
  }

  /** Sent back. */
  public GivenWorkload evicted(String reason, String message) {
    return condition("Evicted", "True", reason, message);
  }

  /** Whose statistics count an eviction. */
  public GivenWorkload counted(String reason, String underlyingCause) {
    evictions.add(new CachedWorkload.EvictionCount(reason, underlyingCause, 1));
    return this;
  }

  /** At its end. */
  public GivenWorkload finished() {
    return condition("Finished", "True", "Succeeded", "");
  }

  /** With a condition. */
  public GivenWorkload condition(String type, String status, String reason, String message) {
    conditions.put(type, new Condition(type, status, reason, message, CREATED, 1));
    return this;
  }

  /** In another version. */
  public GivenWorkload version(long other) {
    version = other;
    return this;
  }

  /** Being deleted. */
  public GivenWorkload deleting() {
    deleting = true;
    return this;
  }

  /** Deactivated. */
  public GivenWorkload inactive() {
    active = false;
    return this;
  }

  /** With other finalizers. */
  public GivenWorkload finalizers(String... names) {
    finalizers = List.of(names);
    return this;
  }

  /** With another name. */
  public GivenWorkload named(String other) {
    name = other;
    return this;
  }

  /** Controlled by nobody. */
  public GivenWorkload unowned() {
    owner = Optional.empty();
    return this;
  }

  /** Controlled by another Job. */
  public GivenWorkload ofJob(String other) {
    owner = Optional.of(new CachedWorkload.Owner("batch/v1", "Job", other, "uid-of-" + other));
    return this;
  }

  /** Controlled by this, or by nobody, and owned by these as well. */
  public GivenWorkload ownedBy(
      Optional<CachedWorkload.Owner> controller, List<CachedWorkload.Owner> others) {
    owner = controller;
    coOwners.addAll(others);
    return this;
  }

  /** Owned by this as well, which does not control it. */
  public GivenWorkload ownedBy(String apiVersion, String kind, String other) {
    coOwners.add(new CachedWorkload.Owner(apiVersion, kind, other, "uid-of-" + other));
    return this;
  }

  /** In another queue. */
  public GivenWorkload queue(String other) {
    queue = other;
    return this;
  }

  /** With another priority than 0. */
  public GivenWorkload priority(int value) {
    priority = value;
    return this;
  }

  /** With the priority of a WorkloadPriorityClass. */
  public GivenWorkload workloadPriorityClass(String className) {
    priorityClass =
        Optional.of(
            new CachedWorkload.PriorityClassRef(
                KueueConstants.GROUP, "WorkloadPriorityClass", className));
    return this;
  }

  /** With an annotation. */
  public GivenWorkload annotation(String key, String value) {
    annotations.put(key, value);
    return this;
  }

  /** With an admission check in this state that updates the pods of pod set main. */
  public GivenWorkload check(
      String checkName,
      String state,
      Map<String, String> labels,
      List<CachedWorkload.PodToleration> tolerations) {
    return check(
        checkName,
        state,
        new CachedWorkload.PodSetUpdate("main", labels, Map.of(), Map.of(), tolerations));
  }

  /** With an admission check in this state that updates pods. */
  public GivenWorkload check(
      String checkName, String state, CachedWorkload.PodSetUpdate podSetUpdate) {
    checks.add(
        new CachedWorkload.CheckState(
            checkName, state, "", CREATED, -1, -1, List.of(podSetUpdate)));
    return this;
  }

  /** With a condition PodsReady. */
  public GivenWorkload podsReady(String status, String reason) {
    return condition("PodsReady", status, reason, "");
  }

  /** With an admission check that says something. */
  public GivenWorkload check(String checkName, String state, String message) {
    checks.add(
        new CachedWorkload.CheckState(checkName, state, message, CREATED, -1, -1, List.of()));
    return this;
  }

  /** With pods that need no quota any more. */
  public GivenWorkload reclaimable(int count) {
    reclaimable.put("main", count);
    return this;
  }

  /** With a further label. */
  public GivenWorkload label(String key, String value) {
    labels.put(key, value);
    return this;
  }

  /** Running in a worker cluster. */
  public GivenWorkload inCluster(String name) {
    cluster = name;
    return this;
  }

  /** The record. */
  public CachedWorkload get() {
    return new CachedWorkload(
        new WorkloadId("uid-of-" + name, job.ref().namespace(), name),
        version,
        1,
        CREATED,
        deleting,
        finalizers,
        owner.isPresent() || !coOwners.isEmpty(),
        owner,
        List.copyOf(coOwners),
        allLabels(),
        Map.copyOf(annotations),
        new CachedWorkload.Spec(
            queue,
            job.podSets().stream().map(GivenWorkload::podSet).toList(),
            priority,
            priorityClass,
            active,
            job.maximumExecutionTimeSeconds()),
        new CachedWorkload.Status(
            new ArrayList<>(conditions.values()),
            admission,
            List.copyOf(checks),
            Map.copyOf(reclaimable),
            Optional.empty(),
            new CachedWorkload.History(executionSeconds, List.copyOf(evictions)),
            false,
            new CachedWorkload.RemotePlacement(cluster, List.of()),
            List.of()));
  }

  private Map<String, String> allLabels() {
    Map<String, String> all = new LinkedHashMap<>(labels);
    owner.ifPresent(it -> all.put(KueueConstants.JOB_UID, it.uid()));
    return Map.copyOf(all);
  }

  private static CachedWorkload.PodSet podSet(CachedJob.PodSet podSet) {
    PodTemplate template =
        new PodTemplate(
            List.of(),
            List.of(),
            new PodTemplate.ResourceNeeds(Map.of(), Map.of()),
            Map.of(),
            "",
            NodeConstraints.ANYWHERE,
            podSet.fingerprint().full(),
            podSet.fingerprint().withoutTolerations(),
            List.of(),
            List.of());
    return new CachedWorkload.PodSet(
        podSet.name(),
        podSet.count(),
        podSet.minCount() > 0 ? OptionalInt.of(podSet.minCount()) : OptionalInt.empty(),
        template,
        "",
        Optional.empty());
  }
}
