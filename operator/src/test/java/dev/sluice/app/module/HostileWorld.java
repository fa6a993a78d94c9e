package dev.sluice.app.module;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.MultiKueue.AccessProvider;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueCluster.ClusterSource;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.checks.multikueue.access.ClusterProfileValidator;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.access.WorkerCredentialsResolver;
import dev.sluice.checks.provisioning.ReadProvisioning;
import dev.sluice.core.model.ClusterQueueSpec.FungibilityGates;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.controller.CachedJobLookups;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.argo.Workflow;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.CachedPodParser;
import dev.sluice.jobs.kinds.pod.PodsTaken;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.kinds.statefulset.StatefulSets;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.TolerantDeserializers.UnreadableMetadata;
import dev.sluice.kubequeue.ForeignQueueUnit;
import dev.sluice.queues.cache.CacheEventFeed;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.queues.mapping.EffectiveQuotasMapper;
import dev.sluice.testing.HostileSamples;
import dev.sluice.workload.RangesRead;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.WorkloadParser;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.node.v1.RuntimeClass;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the operator makes of objects that were read, where that is a function of them alone. */
final class HostileWorld {

  /** The types of the kinds that are watched, those with a store and Workloads apart. */
  static final Map<String, Class<? extends HasMetadata>> TYPES =
      Map.ofEntries(
          Map.entry("Namespace", Namespace.class),
          Map.entry("PriorityClass", PriorityClass.class),
          Map.entry("LimitRange", LimitRange.class),
          Map.entry("RuntimeClass", RuntimeClass.class),
          Map.entry("Secret", Secret.class),
          Map.entry("Lease", Lease.class),
          Map.entry("ClusterQueue", ClusterQueue.class),
          Map.entry("LocalQueue", LocalQueue.class),
          Map.entry("Cohort", Cohort.class),
          Map.entry("ResourceFlavor", ResourceFlavor.class),
          Map.entry("AdmissionCheck", AdmissionCheck.class),
          Map.entry("Topology", Topology.class),
          Map.entry("WorkloadPriorityClass", WorkloadPriorityClass.class),
          Map.entry("MultiKueueCluster", MultiKueueCluster.class),
          Map.entry("MultiKueueConfig", MultiKueueConfig.class),
          Map.entry("ProvisioningRequestConfig", ProvisioningRequestConfig.class));

  private static final String LOGIN_V1 = "client.authentication.k8s.io/v1";
  private static final ClusterProfileValidator PROFILES =
      new ClusterProfileValidator(
          List.of(
              provider("cloud", LOGIN_V1, "Never"),
              provider("asks", LOGIN_V1, "Always"),
              provider("old", "client.authentication.k8s.io/v1alpha1", "Never")));

  /** The integrations of the kinds of jobs, by the kind's name. */
  private static final Map<String, JobIntegration> INTEGRATIONS =
      integrations().collect(Collectors.toMap(it -> it.kind().kind(), it -> it));

  private static Stream<JobIntegration> integrations() {
    return Stream.concat(
        BuiltInIntegrations.descriptions().stream()
            .filter(JobIntegration.class::isInstance)
            .map(JobIntegration.class::cast),
        Stream.of(
            new ForeignQueueUnit((apiVersion, kind) -> false, InstantSource.system()),
            new Workflow(InstantSource.system())));
  }

  private static final int REMEMBERED = 200;

  private final ObjectMapper mapper = new ObjectMapper();
  private final JobOptions rules = JobOptions.defaults("kueue-system");
  private final GivenCluster cluster = GivenCluster.cluster();
  private final WorkloadParser parser = new WorkloadParser();
  private final WorkloadTranslator facts =
      new WorkloadTranslator(ResourceContext.NONE, TranslationOptions.DEFAULT);
  private final Map<String, ObjectNode> samples = HostileSamples.byKind();
  private PodsTaken pods = new PodsTaken();
  private int taken;

  /** Does with an object what its watch leads to. */
  void take(HasMetadata read) {
    if (UnreadableMetadata.is(read)) {
      return;
    }
    InformerCaches informerCaches = InformerCaches.empty(BuiltInCheckControllers.all());
    switch (read) {
      case Namespace it -> informerCaches.namespaces().put("a", it);
      case PriorityClass it -> informerCaches.priorityClasses().put("a", it);
      case ClusterQueue it -> informerCaches.clusterQueues().put("a", it);
      case LocalQueue it -> informerCaches.localQueues().put("team/a", it);
      case Cohort it -> informerCaches.cohorts().put("a", it);
      case ResourceFlavor it -> informerCaches.flavors().put("a", it);
      case AdmissionCheck it -> informerCaches.checks().put("a", it);
      case Topology it -> informerCaches.topologies().put("a", it);
      case WorkloadPriorityClass it -> informerCaches.workloadPriorityClasses().put("a", it);
      case LimitRange it -> RangesRead.of(List.of(it));
      case Secret it -> access(it);
      case ProvisioningRequestConfig it -> ReadProvisioning.config(it);
      case MultiKueueCluster it -> {
        if (it.getSpec() != null && it.getSpec().clusterSource() != null) {
          access(it.getSpec().clusterSource(), Optional.empty());
        }
      }
      default -> show(read);
    }
    look(informerCaches);
  }

  /**
   * Does with an object what its reflector and store lead to.
   *
   * @param faults receives the object if it can't be parsed
   * @return false if objects of the kind aren't kept in a store
   */
  boolean parse(String kind, byte[] text, ObjectNode object, ReadErrorLog faults)
      throws IOException {
    Optional<Function<JsonNode, Runnable>> parser = parser(kind);
    if (parser.isEmpty()) {
      return false;
    }
    Runnable next;
    try {
      next = new Store<>(parser.get()).parse(text, 0, text.length).value();
    } catch (RuntimeException | StackOverflowError e) {
      faults.report(ReadErrorLog.Fault.of(object, e));
      return true;
    }
    next.run();
    return true;
  }

  /** The parser of a kind; its result does what the parsed object leads to. */
  private Optional<Function<JsonNode, Runnable>> parser(String kind) {
    return switch (kind) {
      case "Pod" -> Optional.of(this::pod);
      case "StatefulSet" -> Optional.of(object -> shown(new StatefulSets().view(object)));
      case "LeaderWorkerSet" -> Optional.of(object -> shown(new LeaderWorkerSets().view(object)));
      case "ProvisioningRequest" -> Optional.of(ReadProvisioning::request);
      default -> Optional.ofNullable(INTEGRATIONS.get(kind)).map(this::job).or(() -> other(kind));
    };
  }

  private static Runnable shown(Object any) {
    return () -> show(any);
  }

  private Runnable pod(JsonNode object) {
    CachedPod pod = CachedPodParser.of(new SinglePod(), object);
    return () -> {
      if (++taken % REMEMBERED == 0) {
        pods = new PodsTaken();
      }
      pods.take(pod);
      decide(new SinglePod(), pod.job());
    };
  }

  private Function<JsonNode, Runnable> job(JobIntegration integration) {
    return object -> {
      CachedJob job = CachedJobParser.of(integration, object);
      return () -> decide(integration, job);
    };
  }

  /** Jobs of all kinds that may refer to an object of the kind depend on what is in it. */
  private Optional<Function<JsonNode, Runnable>> other(String kind) {
    List<JobIntegration> referring =
        INTEGRATIONS.values().stream()
            .filter(it -> it.references().stream().anyMatch(to -> to.kind().kind().equals(kind)))
            .toList();
    return referring.isEmpty()
        ? Optional.empty()
        : Optional.of(object -> () -> referring.forEach(it -> decide(it, referring(it, object))));
  }

  private CachedJob referring(JobIntegration integration, JsonNode referenced) {
    ObjectNode job = Objects.requireNonNull(samples.get(integration.kind().kind())).deepCopy();
    if (referenced.path("spec").isObject()) {
      JobReference.setSpec(job, referenced.path("spec"));
    }
    return CachedJobParser.of(integration, job);
  }

  private static void show(Object any) {
    Objects.requireNonNull(any.toString());
  }

  private void look(InformerCaches informerCaches) {
    new CacheEventFeed(
            informerCaches,
            HostileWorld::show,
            false,
            FungibilityGates.DEFAULT,
            new EffectiveQuotasMapper(true),
            InstantSource.system())
        .open();
    CachedJobLookups lookups = new CachedJobLookups(informerCaches, mapper);
    lookups.find("a");
    lookups.globalDefault();
    lookups.priorityClass("a");
    lookups.workloadPriorityClass("a");
    new LocalClusters(informerCaches).mayRunHere("team", "a");
  }

  private void access(Secret secret) {
    access(
        mapper.convertValue(
            Map.of("kubeConfig", Map.of("location", "a", "locationType", "Secret")),
            ClusterSource.class),
        Optional.of(secret));
  }

  private static void access(ClusterSource source, Optional<Secret> secret) {
    show(
        new WorkerCredentialsResolver(
                "kueue-system",
                name -> secret,
                () -> true,
                new KubeconfigFiles(KubeconfigFiles.ROOT, true),
                Optional.empty())
            .of(source));
  }

  /** What a ClusterProfile gives access to, with several configured login programs. */
  void clusterProfile(GenericKubernetesResource profile) {
    show(PROFILES.read("a", mapper.valueToTree(profile)));
  }

  private static AccessProvider provider(String name, String version, String mode) {
    return new AccessProvider(
        name, "/plugins/login", version, mode, List.of("--quiet"), Map.of("REGION", "eu"), true);
  }

  private void decide(JobIntegration adapter, CachedJob job) {
    for (RemoteExecutionCheck remoteExecutionCheck :
        List.of(RemoteExecutionCheck.whereMarked(() -> true, sent -> true))) {
      JobPolicy decisions = new JobPolicy(adapter, rules, remoteExecutionCheck);
      decisions.decide(
          new ReconcileContext(
              job,
              new ManagementStatus.Own(),
              List.of(),
              Optional.empty(),
              cluster,
              cluster,
              GivenCluster.NOW));
    }
  }

  /** Reads a Workload; false when it is left as it was known. */
  boolean workload(byte[] bytes) {
    CachedWorkload workload;
    try {
      workload = parser.parse(bytes);
    } catch (IOException | RuntimeException e) {
      return false;
    }
    show(facts.of(workload));
    facts.totals(workload);
    return true;
  }
}
