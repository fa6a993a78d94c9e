package dev.sluice.app.module;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.JournalSettings;
import dev.sluice.api.config.Configuration.SourceKind;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.LedgerSettings;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.ClusterQueueSpec.FungibilityGates;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobOptions.ClusterState;
import dev.sluice.jobs.policy.JobOptions.CopiedKeys;
import dev.sluice.jobs.policy.JobOptions.Readiness;
import dev.sluice.journal.JournalWriter.JournalOptions;
import dev.sluice.ledger.LedgerOptions;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.lifecycle.LifecycleOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;

/** Maps the configuration to the options of each package. */
public record OptionsMapper(Configuration configuration) {

  private static final List<String> OWN_DOMAINS =
      List.of(KueueConstants.GROUP + "/", "sluice.dev/");

  /** Before a time-out readiness is told at once: later than anything else waits. */
  private static final Duration BEFORE_TIMEOUT = Duration.ofMinutes(1);

  private static final Duration LONG_TIMEOUT = Duration.ofMinutes(2);

  /** Whether somebody waits for the pods of admitted Workloads to be ready. */
  boolean readiness() {
    return configuration.waitForPodsReady().isPresent();
  }

  /** How Workloads are translated for the engine. */
  public TranslationOptions translation() {
    return new TranslationOptions(
        configuration.featureGates(),
        configuration.resources(),
        configuration.waitForPodsReady(),
        configuration.kubeQueue().enabled());
  }

  /** Whether requests for resources that a ClusterQueue doesn't declare are ignored. */
  boolean ignoresUndeclared() {
    return on(FeatureGate.QUOTA_CHECK_STRATEGY) && !configuration.resources().blockUndeclared();
  }

  /** How the engine decides. */
  public EngineOptions engine() {
    return new EngineOptions(
        configuration.fairSharing(),
        translation().blocksAdmission(),
        configuration
            .admissionFairSharing()
            .filter(sharing -> on(FeatureGate.ADMISSION_FAIR_SHARING)),
        new OrderingRules(
            on(FeatureGate.PRIORITY_SORTING_WITHIN_COHORT),
            // Whom a rule lets preempt within others' quota would lose it to them again otherwise.
            on(FeatureGate.PRIORITIZE_PREEMPTOR_WORKLOADS)
                || on(FeatureGate.CONFIGURABLE_PREEMPTIONS),
            on(FeatureGate.RECOMPUTE_ASSIGNMENT_UPON_PREEMPTION_TARGETS_OVERLAP)),
        topology());
  }

  /** How the journal is written; empty if there is none. */
  Optional<JournalOptions> journal() {
    JournalSettings settings = configuration.journal();
    return settings.enabled()
        ? Optional.of(
            new JournalOptions(
                Path.of(settings.directory()),
                settings.maxBytes(),
                settings.maxAge(),
                settings.segmentBytes(),
                settings.syncInterval()))
        : Optional.empty();
  }

  /** How the ledger is kept; empty if there is none. */
  Optional<LedgerOptions> ledger() {
    LedgerSettings settings = configuration.ledger();
    return settings.enabled()
        ? Optional.of(
            new LedgerOptions(
                Path.of(settings.directory()),
                settings.server().jdbcUrl().isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                        new LedgerOptions.Server(
                            settings.server().jdbcUrl(),
                            settings.server().username(),
                            Optional.of(settings.server().passwordFile())
                                .filter(file -> !file.isEmpty())
                                .map(Path::of))),
                settings.kept(),
                settings.maxAge(),
                settings.maxBufferBytes(),
                LedgerOptions.BEHIND,
                settings.currency()))
        : Optional.empty();
  }

  /**
   * What Workloads get from their jobs: the configured labels, the user for learned run times, the
   * labels that rows of the ledger have, and the labels and annotations from which metrics take a
   * Workload's labels. Of our own keys those metrics show what the Workload says: a job can't write
   * them.
   */
  CopiedKeys copied() {
    return new CopiedKeys(
        Stream.of(
                configuration.integrations().labelKeysToCopy().stream(),
                configuration.ledger().enabled()
                    ? configuration.ledger().kept().stream()
                    : Stream.of(LedgerSettings.USER_LABEL),
                sourcesOfMetrics(false))
            .flatMap(keys -> keys)
            .distinct()
            .toList(),
        sourcesOfMetrics(true).distinct().toList());
  }

  private Stream<String> sourcesOfMetrics(boolean annotations) {
    return configuration.metrics().customLabels().stream()
        .filter(label -> label.sourceKind() == SourceKind.WORKLOAD)
        .filter(label -> label.fromAnnotation() == annotations)
        .map(CustomLabel::sourceKey)
        .filter(key -> OWN_DOMAINS.stream().noneMatch(key::startsWith));
  }

  /** What the policies of ClusterQueues for the search of a flavor become. */
  FungibilityGates fungibility() {
    return new FungibilityGates(
        on(FeatureGate.FLAVOR_FUNGIBILITY),
        on(FeatureGate.FLAVOR_FUNGIBILITY_PRESERVE_SCAN_PROGRESS));
  }

  /** How topologies are used. */
  TopologyOptions topology() {
    return new TopologyOptions(
        on(FeatureGate.TOPOLOGY_AWARE_SCHEDULING),
        new PlacementRules(
            on(FeatureGate.TAS_PROFILE_MIXED),
            on(FeatureGate.TAS_BALANCED_PLACEMENT),
            on(FeatureGate.TAS_RESPECT_NODE_AFFINITY_PREFERRED),
            on(FeatureGate.TAS_PARTIAL_SLICES),
            on(FeatureGate.TAS_NODE_FEASIBILITY_FOR_ALL_LEVELS),
            !on(FeatureGate.TAS_LEADER_POD_SET_FEASIBILITY)),
        on(FeatureGate.TAS_HANDLE_OVERLAPPING_FLAVORS),
        on(FeatureGate.TAS_RECOMPUTE_ASSIGNMENT_WITHIN_SCHEDULING_CYCLE),
        on(FeatureGate.TAS_FAILED_NODE_REPLACEMENT),
        on(FeatureGate.TAS_FAILED_NODE_REPLACEMENT_FAIL_FAST),
        on(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES));
  }

  /** What is learned of run times. */
  public RunTimeOptions runTimes() {
    return new RunTimeOptions(
        configuration.runTimes().minSamples(),
        configuration.runTimes().window(),
        configuration.runTimes().maxGroups());
  }

  /** How Workloads live. */
  LifecycleOptions lifecycle() {
    return new LifecycleOptions(
            configuration.waitForPodsReady(),
            configuration.objectRetention().afterFinished(),
            on(FeatureGate.FINISH_ORPHANED_WORKLOADS),
            on(FeatureGate.UNADMITTED_WORKLOADS_EXPLICIT_STATUS),
            configuration.featureGates().preemptionGates())
        .withAdmissionGates(on(FeatureGate.ADMISSION_GATED_BY));
  }

  /** What quota counts of a pod. */
  public AdmittedRequests admittedRequests() {
    return new AdmittedRequests(
        configuration.resources().excludeResourcePrefixes(),
        configuration.resources().transformations(),
        ignoresUndeclared(),
        configuration.resources().injectedContainers());
  }

  /** How jobs are handled; {@code namespaceLabels} knows the labels of a namespace. */
  JobOptions jobs(Function<String, Map<String, String>> namespaceLabels) {
    return new JobOptions(
        configuration.featureGates(),
        configuration.manageJobsWithoutQueueName(),
        namespace ->
            configuration.managedJobsNamespaceSelector().matches(namespaceLabels.apply(namespace)),
        copied(),
        new Readiness(readiness(), quickStart()),
        configuration.objectRetention().afterDeactivated(),
        admittedRequests(),
        ClusterState.NONE);
  }

  /**
   * How long after admission readiness may be told later: not while others wait for it, and only
   * where the time-out is far away.
   */
  Duration quickStart() {
    return configuration
        .waitForPodsReady()
        .filter(wait -> !wait.blockAdmission() && wait.timeout().compareTo(LONG_TIMEOUT) >= 0)
        .filter(wait -> wait.workloadLevel().isEmpty())
        .map(wait -> wait.timeout().minus(BEFORE_TIMEOUT))
        .orElse(Duration.ZERO);
  }

  /**
   * Whether this cluster sends jobs to others: what the cached admission checks say at any moment.
   */
  BooleanSupplier manager(InformerCaches informerCaches) {
    return () ->
        on(FeatureGate.MULTI_KUEUE)
            && informerCaches.checks().all().stream()
                .anyMatch(informerCaches.checkControllers()::dispatchesRemotely);
  }

  /** Whether a gate is on. */
  boolean on(FeatureGate gate) {
    return configuration.featureGates().enabled(gate);
  }
}
