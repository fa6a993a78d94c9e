package dev.sluice.api.config;

import dev.sluice.api.KubernetesNames;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.FairSharing;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Everything that can be set about the operator, defaulted and validated. Made by {@link
 * ConfigurationLoader} only; a value of this type holds throughout.
 *
 * @param namespace the operator's own namespace: its Secret and its leader lease live there
 * @param webhook where webhooks are served
 * @param leaderElection how one of several operators is chosen
 * @param metrics what is measured and where it is served
 * @param health where liveness and readiness are served
 * @param pprofBindAddress where profiles are served; empty: nowhere
 * @param controller how reconcilers run
 * @param tls limits of the TLS servers
 * @param manageJobsWithoutQueueName whether jobs without a queue name are held too
 * @param managedJobsNamespaceSelector the namespaces whose jobs are managed
 * @param internalCertManagement whether the operator makes its own certificates
 * @param waitForPodsReady how long admitted workloads may take to be ready; empty: not watched
 * @param clientConnection limits of the requests to the API server
 * @param integrations the kinds of jobs that are managed
 * @param multiKueue dispatching to other clusters
 * @param fairSharing sharing between queues of a cohort; empty: off
 * @param admissionFairSharing sharing between local queues; empty: off
 * @param resources what of a pod's requests counts
 * @param featureGates which switches are on
 * @param objectRetention when finished objects are deleted
 * @param visibilityServer where pending workloads can be looked at
 * @param kubeQueue queues that are made from the quotas of Kube Queue
 * @param dashboard where the dashboard is served
 * @param runs what is done and recorded about Workloads that run
 * @param effective a file that gives this configuration and leaves nothing to defaults, without
 *     secrets
 */
public record Configuration(
    String namespace,
    Webhook webhook,
    LeaderElection leaderElection,
    Metrics metrics,
    Health health,
    Optional<BindAddress> pprofBindAddress,
    Controller controller,
    Tls tls,
    boolean manageJobsWithoutQueueName,
    Selector managedJobsNamespaceSelector,
    InternalCertManagement internalCertManagement,
    Optional<WaitForPodsReady> waitForPodsReady,
    ClientConnection clientConnection,
    Integrations integrations,
    MultiKueue multiKueue,
    Optional<FairSharing> fairSharing,
    Optional<AdmissionFairSharing> admissionFairSharing,
    Resources resources,
    FeatureGates featureGates,
    ObjectRetention objectRetention,
    VisibilityServer visibilityServer,
    KubeQueue kubeQueue,
    DashboardServer dashboard,
    Runs runs,
    String effective) {

  /** The same with these kinds of jobs, which no file has. */
  public Configuration adding(List<? extends AddedJobKind> kinds) {
    return new Configuration(
        namespace,
        webhook,
        leaderElection,
        metrics,
        health,
        pprofBindAddress,
        controller,
        tls,
        manageJobsWithoutQueueName,
        managedJobsNamespaceSelector,
        internalCertManagement,
        waitForPodsReady,
        clientConnection,
        integrations.adding(kinds),
        multiKueue,
        fairSharing,
        admissionFairSharing,
        resources,
        featureGates,
        objectRetention,
        visibilityServer,
        kubeQueue,
        dashboard,
        runs,
        effective);
  }

  /**
   * What is done and recorded about Workloads that run.
   *
   * @param podAccounting whether pods are compared with what their Workloads were admitted with
   * @param runTimes how run times are learned
   * @param journal whether a journal of the engine's events is written
   * @param ledger whether a ledger of what was used is kept
   * @param warnOnCreate who creates a job that is expected to start later than that is warned; 0:
   *     nobody is
   * @param podTimeout how long pods of an evicted Workload may take to end; 0: as long as they like
   */
  public record Runs(
      PodAccounting podAccounting,
      RunTimes runTimes,
      JournalSettings journal,
      LedgerSettings ledger,
      Duration warnOnCreate,
      Duration podTimeout) {}

  /**
   * How run times are learned.
   *
   * @param minSamples the least number of runs that an estimate is made of
   * @param window the age at which runs are forgotten
   * @param maxGroups the most groups of runs that are remembered
   */
  public record RunTimes(int minSamples, Duration window, int maxGroups) {}

  /** Whether pods are compared with what their Workloads were admitted with. */
  public PodAccounting podAccounting() {
    return runs.podAccounting();
  }

  /**
   * How long pods of an evicted Workload may take to end, whatever grace period they have; 0: as
   * long as they like.
   */
  public Duration evictionPodTimeout() {
    return runs.podTimeout();
  }

  /** Whether a journal of the engine's events is written. */
  public JournalSettings journal() {
    return runs.journal();
  }

  /** Whether a ledger of what was used is kept. */
  public LedgerSettings ledger() {
    return runs.ledger();
  }

  /** From which expected wait on whoever creates a job is warned; 0: never. */
  public Duration warnOnCreate() {
    return runs.warnOnCreate();
  }

  /** How run times are learned. */
  public RunTimes runTimes() {
    return runs.runTimes();
  }

  /**
   * Where webhooks are served.
   *
   * @param host address to listen on; empty: all
   * @param port port to listen on; 0: any that is free
   * @param certDir directory of {@code tls.crt} and {@code tls.key}
   */
  public record Webhook(String host, int port, String certDir) {}

  /**
   * How one of several operators becomes the leader.
   *
   * @param leaderElect whether there is an election; without one this operator always leads
   * @param resourceName name of the Lease
   * @param resourceNamespace namespace of the Lease
   * @param leaseDuration how long followers wait before they take over
   * @param renewDeadline how long the leader tries to renew before it gives up
   * @param retryPeriod pause between tries
   */
  public record LeaderElection(
      boolean leaderElect,
      String resourceName,
      String resourceNamespace,
      Duration leaseDuration,
      Duration renewDeadline,
      Duration retryPeriod) {}

  /**
   * What is measured and where it is served.
   *
   * @param bindAddress where; empty: nowhere
   * @param enableClusterQueueResources whether quota and usage per flavor and resource are reported
   * @param localQueueMetrics which LocalQueues are reported
   * @param customLabels further labels, from the objects measured
   */
  public record Metrics(
      Optional<BindAddress> bindAddress,
      boolean enableClusterQueueResources,
      LocalQueueMetrics localQueueMetrics,
      List<CustomLabel> customLabels) {}

  /**
   * Which LocalQueues are reported.
   *
   * @param enable whether any is
   * @param localQueueSelector those whose labels match
   */
  public record LocalQueueMetrics(boolean enable, Selector localQueueSelector) {}

  /** The kinds of objects a custom metric label can come from. */
  public enum SourceKind {
    /** From the ClusterQueue. */
    CLUSTER_QUEUE,
    /** From the Cohort. */
    COHORT,
    /** From the LocalQueue. */
    LOCAL_QUEUE,
    /** From the Workload. */
    WORKLOAD
  }

  /**
   * A further metric label.
   *
   * @param name the label without its prefix {@code custom_}
   * @param sourceKind the kind of object the value comes from
   * @param sourceKey key of the label or annotation that holds the value
   * @param fromAnnotation whether the key is an annotation's
   * @param trackedValues the values told apart; empty: all
   */
  public record CustomLabel(
      String name,
      SourceKind sourceKind,
      String sourceKey,
      boolean fromAnnotation,
      List<String> trackedValues) {}

  /**
   * Where liveness and readiness are served.
   *
   * @param bindAddress where; empty: nowhere
   * @param livenessPath path of the liveness endpoint, with a slash
   * @param readinessPath path of the readiness endpoint, with a slash
   */
  public record Health(
      Optional<BindAddress> bindAddress, String livenessPath, String readinessPath) {}

  /**
   * How reconcilers run.
   *
   * @param groupKindConcurrency reconciliations at a time, by {@code Kind.group}
   * @param cacheSyncTimeout how long the first reading of the API may take
   */
  public record Controller(Map<String, Integer> groupKindConcurrency, Duration cacheSyncTimeout) {

    /** Keeps a copy of the map. */
    public Controller {
      groupKindConcurrency = Map.copyOf(groupKindConcurrency);
    }

    /** Reconciliations at a time for a kind such as {@code Job.batch}; 1 unless set. */
    public int concurrency(String kindAndGroup) {
      return groupKindConcurrency.getOrDefault(kindAndGroup, 1);
    }
  }

  /** A version of TLS. */
  public enum TlsVersion {
    /** TLS 1.2. */
    TLS_1_2("VersionTLS12", "TLSv1.2"),
    /** TLS 1.3. */
    TLS_1_3("VersionTLS13", "TLSv1.3");

    private final String text;
    private final String protocol;

    TlsVersion(String text, String protocol) {
      this.text = text;
      this.protocol = protocol;
    }

    /** The version as the configuration writes it. */
    public String text() {
      return text;
    }

    /** The version as Java's TLS sockets call it. */
    public String protocol() {
      return protocol;
    }
  }

  /**
   * Limits of the TLS servers.
   *
   * @param minVersion the oldest version spoken; empty: TLS 1.3, or 1.2 if there are suites
   * @param cipherSuites the suites spoken in TLS 1.2; empty: Java's choice
   * @param curvePreferences identifiers of key exchange groups; empty: Java's choice
   */
  public record Tls(
      Optional<TlsVersion> minVersion, List<String> cipherSuites, List<Integer> curvePreferences) {}

  /**
   * Whether the operator makes its own certificates.
   *
   * @param enable whether it does; else they are read from {@link Webhook#certDir}
   * @param webhookServiceName the Service that the certificates are made out for
   * @param webhookSecretName the Secret that the certificates are kept in
   */
  public record InternalCertManagement(
      boolean enable, String webhookServiceName, String webhookSecretName) {}

  /**
   * How long admitted workloads may take to be ready.
   *
   * @param timeout from admission to readiness
   * @param blockAdmission whether others wait meanwhile
   * @param recoveryTimeout from lost readiness to readiness; zero: forever
   * @param unscheduledTimeout from admission until each pod that exists has a node; empty: as long
   *     as readiness may take
   * @param requeuing what becomes of a workload that took longer
   * @param workloadLevel what single workloads may say instead; empty: nothing
   */
  public record WaitForPodsReady(
      Duration timeout,
      boolean blockAdmission,
      Duration recoveryTimeout,
      Optional<Duration> unscheduledTimeout,
      Requeuing requeuing,
      Optional<WorkloadLevel> workloadLevel) {

    /**
     * How a workload whose pods took too long is queued again.
     *
     * @param byEviction whether it queues by the time of its eviction, else by its creation
     * @param backoffLimitCount how often it is queued again; empty: always
     * @param backoffBase the first pause before that
     * @param backoffMax the longest pause before that
     */
    public record Requeuing(
        boolean byEviction,
        Optional<Integer> backoffLimitCount,
        Duration backoffBase,
        Duration backoffMax) {}

    /**
     * What a single workload may say about its own time-outs.
     *
     * @param maxTimeout the longest that it can give itself; empty: any
     */
    public record WorkloadLevel(Optional<Duration> maxTimeout) {

      /** At most the longest; zero stands for no end. */
      private Duration limited(Duration wanted) {
        return maxTimeout
            .filter(most -> wanted.isZero() || wanted.compareTo(most) > 0)
            .orElse(wanted);
      }
    }

    /** Where nothing is said of nodes, and single workloads say nothing. */
    public WaitForPodsReady(
        Duration timeout, boolean blockAdmission, Duration recoveryTimeout, Requeuing requeuing) {
      this(timeout, blockAdmission, recoveryTimeout, Optional.empty(), requeuing, Optional.empty());
    }

    /**
     * The same for a workload that says these times, as far as workloads may.
     *
     * @param ownTimeout from admission to readiness; empty: as configured
     * @param ownRecoveryTimeout from lost readiness to readiness; empty: as configured
     */
    public WaitForPodsReady with(
        Optional<Duration> ownTimeout, Optional<Duration> ownRecoveryTimeout) {
      return workloadLevel
          .map(
              level ->
                  new WaitForPodsReady(
                      ownTimeout.map(level::limited).orElse(timeout),
                      blockAdmission,
                      ownRecoveryTimeout.map(level::limited).orElse(recoveryTimeout),
                      unscheduledTimeout,
                      requeuing,
                      workloadLevel))
          .orElse(this);
    }
  }

  /**
   * Limits of the requests to the API server.
   *
   * @param qps requests per second; negative: no limit
   * @param burst requests at once
   */
  public record ClientConnection(double qps, int burst) {}

  /**
   * The kinds of jobs that are managed.
   *
   * @param frameworks names such as {@code batch/job}
   * @param externalFrameworks kinds managed by others, as Kind.version.group
   * @param labelKeysToCopy labels that a Workload takes from its job
   * @param added the kinds that JobKinds of the cluster declare and jars provide; no file has them
   */
  public record Integrations(
      List<String> frameworks,
      List<String> externalFrameworks,
      List<String> labelKeysToCopy,
      List<AddedJobKind> added) {

    private Integrations adding(List<? extends AddedJobKind> kinds) {
      return new Integrations(
          Stream.concat(frameworks.stream(), kinds.stream().map(it -> it.framework())).toList(),
          externalFrameworks,
          labelKeysToCopy,
          List.copyOf(kinds));
    }
  }

  /**
   * When finished objects are deleted.
   *
   * @param afterFinished how long a finished Workload is kept; empty: forever
   * @param afterDeactivated how long a job is kept that the operator deactivated; empty: forever
   */
  public record ObjectRetention(
      Optional<Duration> afterFinished, Optional<Duration> afterDeactivated) {}

  /**
   * Where pending workloads can be looked at.
   *
   * @param bindAddress IP address to listen on; empty: all
   * @param bindPort port to listen on
   */
  public record VisibilityServer(String bindAddress, int bindPort) {}

  /**
   * Where the dashboard is served.
   *
   * @param enabled whether it is
   * @param bindAddress address to listen on; empty: all
   * @param bindPort port to listen on
   * @param proxy who may say on behalf of whom a request is made; empty: nobody
   */
  public record DashboardServer(
      boolean enabled, String bindAddress, int bindPort, Optional<TrustedProxy> proxy) {

    /**
     * An authenticating proxy, which shows a certificate and names the user in headers.
     *
     * @param clientCaFile file with the authorities of its certificate (PEM)
     * @param names the common names that its certificate may have; empty: any
     * @param userHeader the header with the user's name
     * @param groupsHeader the header with his groups, repeated or separated by commas
     */
    public record TrustedProxy(
        String clientCaFile, List<String> names, String userHeader, String groupsHeader) {}
  }

  /**
   * Whether and how a journal is written (docs/journal.md).
   *
   * @param enabled whether it is; all other fields have no effect without it
   * @param directory where; empty only if it isn't written
   * @param maxBytes the size of all segments
   * @param maxAge how old a segment may get
   * @param segmentBytes the size at which the next segment begins
   * @param syncInterval how often what was written is synced
   */
  public record JournalSettings(
      boolean enabled,
      String directory,
      long maxBytes,
      Duration maxAge,
      long segmentBytes,
      Duration syncInterval) {

    /** Reads the block {@code journal}, which files of both versions may have. */
    static JournalSettings decode(ObjectFieldReader file) {
      ObjectFieldReader fields = file.object("journal");
      boolean enabled = fields.flag("enable", false);
      String directory = fields.directory(enabled);
      long segmentBytes = fields.bytes("segmentBytes", "64Mi", 1L << 16, 1L << 30);
      long maxBytes = fields.bytes("maxBytes", "2Gi", 1L << 17, 1L << 50);
      if (maxBytes < 2 * segmentBytes) {
        fields.refuse(
            "maxBytes", "has to be at least twice segmentBytes, which is " + segmentBytes);
      }
      Duration maxAge = fields.duration("maxAge", Duration.ofHours(720), Duration.ofMinutes(1));
      Duration syncInterval =
          fields.duration("syncInterval", Duration.ofSeconds(1), Duration.ofMillis(1));
      return fields.done(
          new JournalSettings(enabled, directory, maxBytes, maxAge, segmentBytes, syncInterval));
    }
  }

  /**
   * An address to listen on.
   *
   * @param host name or IP address; empty: all
   * @param port port; 0: any that is free
   */
  public record BindAddress(String host, int port) {

    private static final Pattern SHAPE =
        Pattern.compile("(?:\\[([0-9a-fA-F:.]*)]|([^:\\[\\]]*)):(\\d{1,5})");

    static final String RULE = "host:port or :port with a port from 0 to 65535, or \"0\" for none";

    /**
     * The address that {@code host:port}, {@code :port} or {@code [ipv6]:port} says, if it is one.
     */
    public static Optional<BindAddress> parse(String text) {
      Matcher shape = SHAPE.matcher(text);
      if (!shape.matches() || Integer.parseInt(shape.group(3)) > 65535) {
        return Optional.empty();
      }
      String host = shape.group(1) == null ? shape.group(2) : shape.group(1);
      return Optional.of(new BindAddress(host, Integer.parseInt(shape.group(3))));
    }

    /** Whether only processes of the same machine, or of the same pod, reach the address. */
    public boolean isLoopback() {
      return host.equals("localhost")
          || !host.isEmpty()
              && KubernetesNames.isIpAddress(host)
              && InetAddress.ofLiteral(host).isLoopbackAddress();
    }

    @Override
    public String toString() {
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
  }

  /** Whether the pods of Workloads are counted and compared with what these were admitted with. */
  public enum PodAccounting {
    /** They aren't. */
    OFF,
    /** A Workload that runs more than it was admitted with is evicted. */
    DETECT,
    /** The same, and a pod with which a Workload would run more is refused before it exists. */
    PREVENT;

    /** Whether pods are compared at all. */
    public boolean isOn() {
      return this != OFF;
    }

    /** The words of the configuration. */
    static final Map<String, PodAccounting> WORDS =
        Map.of("Off", OFF, "Detect", DETECT, "Prevent", PREVENT);
  }
}
