package dev.sluice;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.reading.Unreadable;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterSource;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.checks.multikueue.access.AccessSource;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.controllers.world.LocalWorkers;
import dev.sluice.controllers.world.World;
import dev.sluice.controllers.world.WorldFeed;
import dev.sluice.controllers.world.WorldLookups;
import dev.sluice.jobs.Elsewhere;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.JobAdapter;
import dev.sluice.jobs.JobDecisions;
import dev.sluice.jobs.JobResource;
import dev.sluice.jobs.JobRules;
import dev.sluice.jobs.JobView;
import dev.sluice.jobs.Situation;
import dev.sluice.jobs.Standing;
import dev.sluice.jobs.batch.BatchJob;
import dev.sluice.jobs.batch.BatchJobResource;
import dev.sluice.jobs.pods.PodResource;
import dev.sluice.jobs.pods.PodsTaken;
import dev.sluice.jobs.pods.SinglePod;
import dev.sluice.jobs.statefulset.SetResource;
import dev.sluice.workloads.NamespaceRules;
import dev.sluice.workloads.RangesRead;
import dev.sluice.workloads.ResourceContext;
import dev.sluice.workloads.TranslationRules;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.WorkloadFacts;
import dev.sluice.workloads.WorkloadParser;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.node.v1.RuntimeClass;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What the operator makes of objects that were read, where that is a function of them alone. */
final class HostileWorld {

  /** The types of all kinds that are watched, Workloads apart. */
  static final Map<String, Class<? extends HasMetadata>> TYPES =
      Map.ofEntries(
          Map.entry("Job", BatchJobResource.class),
          Map.entry("Pod", PodResource.class),
          Map.entry("StatefulSet", SetResource.class),
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
          Map.entry("MultiKueueConfig", MultiKueueConfig.class));

  private static final int REMEMBERED = 200;

  private final ObjectMapper mapper = new ObjectMapper();
  private final JobRules rules = JobRules.defaults("kueue-system");
  private final GivenCluster cluster = GivenCluster.cluster();
  private final WorkloadParser parser = new WorkloadParser();
  private final WorkloadFacts facts = new WorkloadFacts(new NoContext(), TranslationRules.DEFAULT);
  private PodsTaken pods = new PodsTaken();
  private int taken;

  private static final class NoContext implements ResourceContext {

    @Override
    public NamespaceRules rules(String namespace) {
      return NamespaceRules.NONE;
    }

    @Override
    public Map<String, Long> overhead(String runtimeClass) {
      return Map.of();
    }
  }

  /** Does with an object what its watch leads to. */
  void take(HasMetadata read, ObjectNode object) {
    if (Unreadable.is(read)) {
      return;
    }
    World world = World.empty();
    switch (read) {
      case BatchJobResource job -> decide(new BatchJob(), job.view());
      case PodResource pod -> {
        if (++taken % REMEMBERED == 0) {
          pods = new PodsTaken();
        }
        pods.take(pod.pod());
        decide(new SinglePod(), pod.view());
      }
      case SetResource set -> show(set.set());
      case Namespace it -> world.namespaces().put("a", it);
      case PriorityClass it -> world.priorityClasses().put("a", it);
      case ClusterQueue it -> world.clusterQueues().put("a", it);
      case LocalQueue it -> world.localQueues().put("team/a", it);
      case Cohort it -> world.cohorts().put("a", it);
      case ResourceFlavor it -> world.flavors().put("a", it);
      case AdmissionCheck it -> world.checks().put("a", it);
      case Topology it -> world.topologies().put("a", it);
      case WorkloadPriorityClass it -> world.workloadPriorityClasses().put("a", it);
      case LimitRange it -> RangesRead.of(List.of(it));
      case Secret it -> access(it);
      case MultiKueueCluster it -> {
        if (it.getSpec() != null && it.getSpec().clusterSource() != null) {
          access(it.getSpec().clusterSource(), Optional.empty());
        }
      }
      default -> show(read);
    }
    if (!(read instanceof JobResource)) {
      look(world);
    }
  }

  private static void show(Object any) {
    Objects.requireNonNull(any.toString());
  }

  private void look(World world) {
    new WorldFeed(world, HostileWorld::show, false).open();
    WorldLookups lookups = new WorldLookups(world, mapper);
    lookups.find("a");
    lookups.globalDefault();
    lookups.priorityClass("a");
    lookups.workloadPriorityClass("a");
    new LocalWorkers(world).mayRunHere("team", "a");
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
        new AccessSource(
                "kueue-system",
                name -> secret,
                () -> true,
                new KubeconfigFiles(KubeconfigFiles.ROOT, true),
                Optional.empty())
            .of(source));
  }

  private void decide(JobAdapter adapter, JobView job) {
    for (Elsewhere elsewhere : List.of(Elsewhere.whereMarked(() -> true, sent -> true))) {
      JobDecisions decisions = new JobDecisions(adapter, rules, elsewhere);
      decisions.decide(
          new Situation(
              job,
              new Standing.Own(),
              List.of(),
              Optional.empty(),
              cluster,
              cluster,
              GivenCluster.NOW));
    }
  }

  /** Reads a Workload; false when it is left as it was known. */
  boolean workload(byte[] bytes) {
    Workload workload;
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
