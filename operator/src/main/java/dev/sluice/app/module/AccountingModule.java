package dev.sluice.app.module;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.accounting.AdmissionComparison;
import dev.sluice.accounting.FreshPods;
import dev.sluice.accounting.PodAccountant;
import dev.sluice.accounting.PodAccountant.ExceedingWorkloads;
import dev.sluice.accounting.PodAccounts;
import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.accounting.PodAccounts.Ownership;
import dev.sluice.accounting.PodAdmissionLookup;
import dev.sluice.accounting.PodPrevention;
import dev.sluice.accounting.PodRecord;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.accounting.PodRecords;
import dev.sluice.accounting.PodStopper;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.Configuration.PodAccounting;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.jobs.controller.GroupWorkloads;
import dev.sluice.jobs.controller.Integration;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.argo.Workflow;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.kinds.statefulset.StatefulSets;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.metrics.PodAccountingMetrics;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.feed.WorkloadEventFeed;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Pod accounting: the records of pods, the accounts, and what is done about those that exceed. Pods
 * are read by {@link TopologyModule}. Without accounting nothing is recorded but what topology
 * needs.
 */
public final class AccountingModule implements OperatorModule, WorkloadEventFeed.Held {

  private static final int WRITES_AT_A_TIME = 16;
  private static final Duration CLAIM_BATCH = Duration.ofSeconds(1);

  private final OperatorContext context;
  private final WorkloadLister workloads;
  private final PodRecordParser parser;
  private final PodAccounts accounts;
  private final PodAccountant accountant;
  private final AttendedKinds attended;
  private final PodAdmissionLookup lookup;
  private final PodAccountingMetrics metrics;
  private final Set<String> withNewClaims = ConcurrentHashMap.newKeySet();
  private final Map<String, JobRef> byUid = new ConcurrentHashMap<>();
  private volatile Consumer<WorkloadId> released = workload -> {};
  private volatile Consumer<CachedWorkload> emptied = workload -> {};
  private volatile Consumer<CachedWorkload> outlasted = workload -> {};
  private volatile Optional<IntegrationRegistry> jobs = Optional.empty();
  private volatile BooleanSupplier synced = () -> false;
  private volatile Optional<OwnerLinks> links = Optional.empty();
  private volatile boolean leading;

  /** Connected to the Workloads that {@code workloads} reads. */
  public AccountingModule(
      OperatorContext context, InformerModule informers, WorkloadModule workloads) {
    this.context = context;
    this.workloads = workloads.cache();
    AdmittedRequests requests =
        context.options().admittedRequests().counting(informers.claimedDevices());
    parser =
        new PodRecordParser(
            requests,
            image -> isPlaceholderImage(image, informers.caches().checks().values()),
            metadata -> links.flatMap(known -> known.jobBehind(metadata)));
    AdmissionComparison comparison =
        new AdmissionComparison(
            requests,
            workload -> isSummed(workload.owner()),
            context
                .configuration()
                .featureGates()
                .enabled(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION));
    metrics = new PodAccountingMetrics(context.metrics().registry(), context::role);
    accounts = new PodAccounts(workloads.cache(), comparison, this::changed);
    accounts.withoutWorkload(account -> withoutWorkload(account).isPresent());
    attended = new AttendedKinds(context);
    FreshPods freshPods = new FreshPods(context.requests(WRITES_AT_A_TIME), parser);
    accountant =
        new PodAccountant(
            new PodAccountant.Dependencies(
                freshPods,
                new PodStopper(context.requests(WRITES_AT_A_TIME), context.events()),
                workloads.writer(),
                new HandledJobs(),
                new Recorder(),
                context.clock(),
                () -> leading && context.leadership().leading() && synced.getAsBoolean(),
                context.configuration().evictionPodTimeout()),
            accounts,
            workload -> released.accept(workload),
            context.workQueues());
    lookup = new PodAdmissionLookup(accounts, parser, requests, prevention(freshPods));
    workloads.reflector().listen(accounts);
    informers.whenClaimAppears(this::claimAppeared);
  }

  private static boolean isPlaceholderImage(String image, Stream<AdmissionCheck> checks) {
    return image.equals(NodeCapacityAnnotations.DEFAULT_IMAGE)
        || checks
            .filter(
                check ->
                    NodeCapacityAnnotations.CONTROLLER.equals(check.getSpec().controllerName()))
            .anyMatch(
                check ->
                    NodeCapacityAnnotations.of(check.getMetadata().getAnnotations())
                        .image()
                        .equals(image));
  }

  /** Pods may have claims that are read after them. Many appear at a time, and are one look. */
  private void claimAppeared(String namespace) {
    if (enabled() && withNewClaims.add(namespace)) {
      context.schedule(
          CLAIM_BATCH,
          () -> {
            withNewClaims.remove(namespace);
            accounts.all().stream()
                .filter(account -> account.namespace().equals(namespace))
                .forEach(this::changed);
          });
    }
  }

  private Optional<PodPrevention> prevention(FreshPods freshPods) {
    return context.configuration().podAccounting() == PodAccounting.PREVENT
        ? Optional.of(
            new PodPrevention(
                new PodPrevention.Dependencies(
                    accounts,
                    parser,
                    freshPods,
                    this::uncharged,
                    attended,
                    workload -> isStoppable(Ownership.of(workload)),
                    context.clock())))
        : Optional.empty();
  }

  private Optional<String> uncharged(PodRecord pod) throws InterruptedException {
    return links.isPresent() ? links.get().read(pod) : Optional.empty();
  }

  /** Compares pods that are to be changed with their admissions. */
  PodAdmissionLookup lookup() {
    return lookup;
  }

  /** Whether pods are counted. */
  boolean enabled() {
    return context.configuration().podAccounting().isOn();
  }

  /** Whether pods are counted, and all of them are known. */
  boolean areCounted() {
    return enabled() && synced.getAsBoolean();
  }

  /**
   * Whether an admitted Workload has a pod that may run and has no node. Asked only where somebody
   * waits for that: false without {@code waitForPodsReady.unscheduledTimeout}.
   */
  boolean hasUnscheduledPods(CachedWorkload workload) {
    return workload.admitted()
        && context
            .configuration()
            .waitForPodsReady()
            .flatMap(Configuration.WaitForPodsReady::unscheduledTimeout)
            .isPresent()
        && accounts.podsOf(accounts.accountOf(workload)).stream()
            .anyMatch(pod -> pod.node().isEmpty() && pod.deletion().isEmpty());
  }

  /** Makes the records of pods. */
  PodRecordParser parser() {
    return parser;
  }

  /** The accounts. */
  PodAccounts accounts() {
    return accounts;
  }

  /** The records of pods; those of nobody's accounts if pods aren't counted. */
  PodRecords records() {
    return enabled() ? accounts.records() : new PodRecords(pod -> {}, uid -> false);
  }

  /**
   * Whether a pod set stands for all pods of the job at a time: the steps of a Workflow differ in
   * number and in size.
   */
  private static boolean isSummed(Optional<Owner> controller) {
    return controller
        .filter(owner -> Workflow.KIND.is(owner.apiVersion(), owner.kind()))
        .isPresent();
  }

  /**
   * Whether pods that run before their Workload is admitted may be deleted: not those of jobs that
   * others start, and not the steps of a Workflow that come before the one that waits. Those of a
   * Workflow that has ended may: it has no status of its own, so that its users can say so while
   * they run. Nor those of a job that exists and has no Workload any more: nobody manages it.
   */
  private boolean isStoppable(Ownership ownership) {
    return attended.attends(ownership)
        && (workloads.get(ownership.id()).isPresent() || !jobExists(ownership))
        && (!isSummed(ownership.controller()) || ownership.finished())
        && ownership.controller().stream().noneMatch(attended::isExternal)
        && ownership.others().stream()
            .allMatch(
                owner ->
                    owner.isPod()
                        || StatefulSets.KIND.is(owner.apiVersion(), owner.kind())
                        || LeaderWorkerSets.KIND.is(owner.apiVersion(), owner.kind()));
  }

  private void changed(Account account) {
    if (enabled()) {
      accountant.changed(account);
    } else if (accounts.isUnverified(account)) {
      // Nobody lists pods, so that nothing waits for them.
      accounts.verified(account);
      accounts.settle(account);
    }
  }

  @Override
  public boolean isHeld(WorkloadId workload) {
    return enabled() && accounts.isHeld(workload);
  }

  @Override
  public boolean isOutlasted(WorkloadId workload) {
    return enabled() && accounts.isOutlasted(workload);
  }

  /** How many pods of a job run that keep its quota; 0 if they aren't counted. */
  int running(String namespace, String uid) {
    int running = enabled() ? accounts.running(namespace, uid) : 0;
    return running > 0 && accountant.isOverdue(new Account(namespace, uid)) ? 0 : running;
  }

  /** From now on this is called with each Workload whose quota pods have held, and hold no more. */
  void whenReleased(Consumer<WorkloadId> listener) {
    released = listener;
  }

  /** From now on this is called with each Workload whose pods have held its quota for long. */
  void whenOutlasted(Consumer<CachedWorkload> listener) {
    outlasted = listener;
  }

  /** From now on this is called with the Workloads of jobs that have no pods any more. */
  void whenEmpty(Consumer<CachedWorkload> listener) {
    emptied = listener;
  }

  /** From now on pods are read as long as this holds. */
  void readBy(BooleanSupplier readers) {
    synced = readers;
  }

  /**
   * From now on it is known which jobs are parts of others, and which ended.
   *
   * @param resolver knows which jobs are to be queued
   */
  void follow(IntegrationRegistry jobs, OwnerChainResolver resolver) {
    jobs.observe((before, after) -> jobChanged(before, after, resolver));
    this.jobs = Optional.of(jobs);
    links =
        Optional.of(new OwnerLinks(context.requests(WRITES_AT_A_TIME), jobs, resolver, accounts));
  }

  /** The job that an account is named after, if it is to be queued and has no Workload. */
  private Optional<CachedJob> withoutWorkload(Account account) {
    JobRef job = byUid.get(account.root());
    return job == null || !job.namespace().equals(account.namespace())
        ? Optional.empty()
        : links.flatMap(it -> it.withoutWorkload(job));
  }

  private boolean jobExists(Ownership ownership) {
    return Stream.concat(ownership.controller().stream(), ownership.others().stream())
        .anyMatch(owner -> job(ownership.id(), owner).isPresent());
  }

  private Optional<CachedJob> jobOf(CachedWorkload workload) {
    return workload.owner().flatMap(owner -> job(workload.id(), owner));
  }

  private Optional<CachedJob> job(WorkloadId workload, Owner owner) {
    return jobs.flatMap(known -> known.find(workload.namespace(), CachedJob.Controller.of(owner)));
  }

  private void jobChanged(
      @Nullable CachedJob before, @Nullable CachedJob after, OwnerChainResolver resolver) {
    if (after != null) {
      resolver
          .controller(after)
          .filter(owner -> !owner.uid().isEmpty())
          .ifPresent(owner -> accounts.linked(after.ref().uid(), owner.uid()));
      if (enabled() && isFollowed(after.ref().kind())) {
        byUid.put(after.ref().uid(), after.ref());
        accounts.jobChanged(after.ref().namespace(), after.ref().uid());
      }
      if (after.deleting() && (before == null || !before.deleting())) {
        changed(new Account(after.ref().namespace(), after.ref().uid()));
      }
    }
    if (before != null && (after == null || !after.ref().uid().equals(before.ref().uid()))) {
      boolean itself = before.ref().kind().equals(SinglePod.KIND);
      if (!itself) {
        accounts.jobEnded(
            new Account(before.ref().namespace(), before.ref().uid()),
            resolver.status(before) instanceof ManagementStatus.Own);
      }
      accounts.records().ownerGone(before.ref().uid());
      byUid.remove(before.ref().uid());
    }
  }

  /** Pods have their own gate; the steps of a Workflow that is held end by themselves. */
  private static boolean isFollowed(JobKind kind) {
    return !kind.equals(SinglePod.KIND) && !kind.equals(Workflow.KIND);
  }

  @Override
  public void leadershipStarted() {
    leading = true;
    accounts.all().forEach(this::changed);
    accounts.withoutAny().forEach(this::changed);
  }

  @Override
  public void leadershipEnded() {
    leading = false;
  }

  @Override
  public void stop() {
    accountant.close();
  }

  /** What the accountant asks about jobs. */
  private final class HandledJobs implements PodAccountant.Jobs {

    @Override
    public boolean isEvictable(CachedWorkload workload) {
      return attended.test(workload);
    }

    @Override
    public boolean isStoppable(Ownership ownership) {
      return AccountingModule.this.isStoppable(ownership);
    }

    @Override
    public Optional<Duration> withoutWorkload(Account account) {
      return AccountingModule.this
          .withoutWorkload(account)
          .flatMap(job -> OwnerLinks.tolerated(job, context.configuration().evictionPodTimeout()));
    }

    @Override
    public boolean isBeingDeleted(CachedWorkload workload) {
      return jobOf(workload)
          .filter(job -> job.deleting() && !job.state().handling().cleansUp())
          .isPresent();
    }

    @Override
    public boolean hasEnded(CachedWorkload workload) {
      return attended.test(workload)
          && workload.owner().stream().noneMatch(attended::isExternal)
          && jobOf(workload).flatMap(job -> job.state().end()).isPresent();
    }

    @Override
    public boolean isGone(CachedWorkload workload) throws InterruptedException {
      // Pods of a group are jobs themselves, and may be adopted by the set that is made anew.
      if (!attended.test(workload) || GroupWorkloads.isMarked(workload) || links.isEmpty()) {
        return false;
      }
      List<Owner> owners = workload.owners().toList();
      // The garbage collector takes the references off where a job is deleted without its pods; a
      // Workload that never had any ends in another way.
      if (owners.isEmpty()
          && workloads
              .get(workload.id())
              .filter(latest -> !PodAccounts.isAbandoned(latest))
              .isPresent()) {
        return false;
      }
      for (Owner owner : owners) {
        if (attended.isExternal(owner) || links.get().mayExist(workload.id().namespace(), owner)) {
          return false;
        }
      }
      return true;
    }
  }

  /** Tells people and metrics. */
  private final class Recorder implements PodAccountant.Observer {

    @Override
    public void evicted(CachedWorkload workload, int beyond, String message) {
      exceeds(workload, beyond, message);
    }

    @Override
    public void exceeds(CachedWorkload workload, int beyond, String message) {
      metrics.beyond(workload.status().admission().map(Admission::clusterQueue).orElse(""), beyond);
      warn(
          new ObjectReference(
              "kueue.x-k8s.io/v1beta2",
              "Workload",
              workload.id().namespace(),
              workload.id().name(),
              workload.id().uid()),
          message);
      workload
          .owner()
          .ifPresent(
              owner ->
                  warn(
                      new ObjectReference(
                          owner.apiVersion(),
                          owner.kind(),
                          workload.id().namespace(),
                          owner.name(),
                          owner.uid()),
                      message));
    }

    private void warn(ObjectReference about, String message) {
      context
          .events()
          .record(about, EventRecorder.Type.WARNING, ExceedingWorkloads.CAUSE, "Eviction", message);
    }

    @Override
    public void stopped(int pods) {
      metrics.beyond("", pods);
    }

    @Override
    public void outlasted(CachedWorkload workload) {
      outlasted.accept(workload);
    }

    @Override
    public void empty(List<CachedWorkload> workloads) {
      workloads.forEach(emptied);
    }
  }

  /**
   * Reads the controllers of pods, and theirs, from the API server where their watches are behind:
   * a pod may be made before the watch tells of the job that makes it.
   *
   * @param client reads objects
   * @param jobs the kinds that are followed, and what is known of their objects
   * @param resolver knows which owners are believed, and which jobs are to be queued
   * @param accounts is told what controls what
   */
  record OwnerLinks(
      ApiClient client, IntegrationRegistry jobs, OwnerChainResolver resolver, PodAccounts accounts)
      implements PodPrevention.OwnerReader {

    private static final int DEEPEST = 10;

    /**
     * Names of objects; what people write as a name may be anything, and becomes part of a path.
     */
    private static final Pattern NAME = Pattern.compile("[a-z0-9][-a-z0-9.]{0,252}");

    /**
     * An object in the chain of controllers.
     *
     * @param job its job; empty if a watch alone can tell of jobs of its kind
     * @param controller what controls it, if that is believed
     */
    private record Link(Optional<CachedJob> job, Optional<CachedJob.Controller> controller) {}

    @Override
    public Optional<String> read(PodRecord pod) throws InterruptedException {
      Optional<String> uncharged = Optional.empty();
      for (Owner owner : pod.owners()) {
        Optional<CachedJob> top = Optional.empty();
        Optional<CachedJob.Controller> next = Optional.of(CachedJob.Controller.of(owner));
        for (int depth = 0; depth < DEEPEST && next.isPresent(); depth++) {
          CachedJob.Controller object = next.get();
          Optional<Integration> integration = integration(object);
          if (integration.isEmpty()) {
            break;
          }
          Optional<Link> link = link(pod.namespace(), object, integration.get());
          if (link.isEmpty()) {
            // The garbage collector deletes such a pod: no watch tells of its job any more.
            return Optional.of(
                "its controller %s \"%s\" doesn't exist".formatted(object.kind(), object.name()));
          }
          top = link.get().job();
          next = link.get().controller();
        }
        // No webhook held the job: that of its kind may ignore that no operator answers.
        Optional<String> unqueued =
            top.filter(job -> resolver.status(job) instanceof ManagementStatus.Own)
                .map(CachedJob::ref)
                .map(
                    job ->
                        "with it a pod would run of %s \"%s\", which has no Workload"
                            .formatted(job.kind().kind(), job.name()));
        uncharged = uncharged.isPresent() ? uncharged : unqueued;
      }
      return uncharged;
    }

    /**
     * The job that a pod is a part of by what is believed of its labels, although its controller is
     * another pod: nobody gates it, whatever pod that is. One that was made later is none of it.
     */
    Optional<Owner> jobBehind(JsonNode metadata) {
      return CachedJobParser.controller(metadata)
          .flatMap(
              named ->
                  resolver
                      .believed()
                      .of(named, SinglePod.KIND.kind(), JsonFields.map(metadata, "labels")))
          .filter(behind -> behind.uid().isEmpty())
          .flatMap(behind -> jobs.find(JsonFields.text(metadata, "namespace"), behind))
          .filter(
              job ->
                  JsonFields.time(metadata.path("creationTimestamp"))
                      .filter(made -> made.isBefore(job.createdAt()))
                      .isEmpty())
          .map(CachedJob::ref)
          .map(job -> new Owner(job.kind().apiVersion(), job.kind().kind(), job.name(), job.uid()));
    }

    /**
     * A job that is to be queued itself and has no Workload. One whose owner isn't known yet may be
     * a part of that.
     */
    Optional<CachedJob> withoutWorkload(JobRef job) {
      return accounts.workloadsOf(new Account(job.namespace(), job.uid())).isEmpty()
          ? jobs.find(job.kind(), job.namespace(), job.name())
              .filter(found -> found.ref().uid().equals(job.uid()))
              .filter(found -> resolver.status(found) instanceof ManagementStatus.Own)
              .filter(found -> !resolver.missesOwner(found))
          : Optional.empty();
    }

    /**
     * How long pods may run of a job that is to be queued and has no Workload. One that isn't
     * suspended is about to be: its controller would count a pod that is stopped before as failed.
     * One that has ended may have had a Workload, which was kept for a while.
     *
     * @param afterEnd how long pods may run on after their job has ended; zero: for ever
     * @return empty if they may run as long as they like
     */
    static Optional<Duration> tolerated(CachedJob job, Duration afterEnd) {
      if (job.state().end().isPresent()) {
        return Optional.of(afterEnd).filter(Duration::isPositive);
      }
      return Optional.of(PodAccountant.LEFT_BEHIND)
          .filter(any -> job.state().suspended() || job.deleting());
    }

    /** Whether an owner exists, or is of a kind that isn't followed. */
    boolean mayExist(String namespace, Owner owner) throws InterruptedException {
      CachedJob.Controller object = CachedJob.Controller.of(owner);
      Optional<Integration> integration = integration(object);
      return integration.isEmpty()
          || jobs.find(namespace, object).isPresent()
          || JsonFields.text(
                  object(integration.get().kind(), namespace, owner.name()).path("metadata"), "uid")
              .equals(owner.uid());
    }

    private Optional<Integration> integration(CachedJob.Controller object) {
      return object.uid().isEmpty()
          ? Optional.empty()
          : jobs.enabled(object.apiVersion(), object.kind());
    }

    /** An object of a kind, linked with its controller; empty if it isn't there. */
    private Optional<Link> link(
        String namespace, CachedJob.Controller object, Integration integration)
        throws InterruptedException {
      Optional<CachedJob> known = jobs.find(namespace, object);
      if (known.isPresent()) {
        return Optional.of(
            new Link(known, resolver.controller(known.get()).filter(it -> !it.uid().isEmpty())));
      }
      JsonNode read = object(integration.kind(), namespace, object.name());
      JsonNode metadata = read.path("metadata");
      if (!JsonFields.text(metadata, "uid").equals(object.uid())) {
        return Optional.empty();
      }
      Optional<CachedJob.Controller> controller =
          CachedJobParser.controller(metadata)
              .flatMap(
                  it ->
                      resolver.believed().of(it, object.kind(), JsonFields.map(metadata, "labels")))
              .filter(it -> !it.uid().isEmpty());
      controller.ifPresent(it -> accounts.linked(object.uid(), it.uid()));
      return Optional.of(new Link(job(integration, read), controller));
    }

    private static Optional<CachedJob> job(Integration integration, JsonNode object) {
      if (!(integration.description() instanceof JobIntegration kind)) {
        return Optional.empty();
      }
      try {
        return Optional.of(CachedJobParser.of(kind, object));
      } catch (RuntimeException e) {
        throw new IllegalStateException(
            kind.kind().kind() + " can't be read: " + e.getMessage(), e);
      }
    }

    private JsonNode object(JobKind kind, String namespace, String name)
        throws InterruptedException {
      if (!NAME.matcher(name).matches()) {
        return MissingNode.getInstance();
      }
      ApiOutcome outcome =
          Futures.forResult(client.send(ApiRequest.get(kind.path(namespace, name))));
      return switch (outcome) {
        case ApiOutcome.Written read -> read.object();
        case ApiOutcome.Gone gone -> MissingNode.getInstance();
        default -> throw new IllegalStateException(kind.plural() + " not read: " + outcome);
      };
    }
  }
}
